import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '@cpg/contracts';
import type { ChainNode } from '@cpg/local-chain';
import { type Random, seededRandom } from '../harness/random.ts';
import { metricsOf } from '../harness/chains.ts';
import type { Stack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

export interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a node answers: a result, an error of JSON-RPC, or an HTTP status. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly status: number; readonly retryAfterSeconds?: number };

/** Asks the honest node. */
type Ask = (method: string, ...params: unknown[]) => Promise<NodeAnswer>;

/** Changes the honest answer to a question. Returns the same object where it tells the truth. */
export type Lie = (question: Question, honest: NodeAnswer, ask: Ask) => NodeAnswer | Promise<NodeAnswer>;

export const rpcError = (code: number, message: string): NodeAnswer => ({ error: { code, message } });

/** A JSON-RPC node that forwards each question to an honest one, and lies while `lie` is set. */
export interface LyingNode {
  readonly url: string;
  lie: Lie | null;
  /** Answers that were not honest so far. */
  readonly lies: () => number;
  readonly close: () => Promise<void>;
}

export const startLyingNode = async (target: ChainNode): Promise<LyingNode> => {
  const { origin, pathname, username, password } = new URL(target.url);
  const authorization = username && { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  let lies = 0;
  const ask = async (body: string): Promise<NodeAnswer> => {
    const headers = { 'content-type': 'application/json', ...authorization };
    const response = await fetch(origin + pathname, { method: 'POST', headers, body });
    const { result, error } = (await response.json()) as {
      result?: unknown;
      error?: { code: number; message: string };
    };
    return error ? { error } : { result };
  };
  const askOf: Ask = (method, ...params) => ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const server = createServer((request, response) => {
    const answer = async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const { id, ...question } = JSON.parse(body) as Question & { id: number };
      const honest = await ask(body);
      const told = (await node.lie?.(question, honest, askOf)) ?? honest;
      if (told !== honest) lies += 1;
      if ('status' in told) {
        const { status, retryAfterSeconds } = told;
        response.writeHead(status, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) });
        return response.end();
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...told }));
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const node: LyingNode = {
    url: `http://${username && `${username}:${password}@`}127.0.0.1:${port}${pathname}`,
    lie: null,
    lies: () => lies,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((done) => server.close(() => done()));
    },
  };
  return node;
};

/** Answers late, up to `mostMs`. It is no lie: the answers are honest. */
export const delaying =
  (mostMs: number, random: () => number): Lie =>
  async (_question, honest) => {
    await sleep(random() * mostMs);
    return honest;
  };

/** Lies in a part of the answers. */
export const sometimes =
  (chance: number, random: () => number, lie: Lie): Lie =>
  (...told) =>
    random() < chance ? lie(...told) : told[1];

/** Money that an order was sent on the honest chain. */
export interface Sale {
  readonly order: Order;
  readonly address: string;
  readonly status: Order['status'];
  /** Units, and the transaction of each transfer. */
  readonly sent: readonly { readonly txHash: string; readonly units: bigint }[];
}

/** A stack whose nodes lie, and the honest chain behind them. */
export interface LyingChain {
  readonly stack: Stack;
  readonly network: string;
  /** In the order of CHAIN_URLS. */
  readonly nodes: readonly LyingNode[];
  readonly lies: Readonly<Record<string, (random: Random, height: number) => Lie>>;
  readonly height: () => Promise<number>;
  /** Opens an order. Resolves to a function that pays it and mines the transfers. */
  readonly open: (random: Random) => Promise<() => Promise<Sale>>;
  /** Gives all transfers the confirmations that they need. */
  readonly confirm: () => Promise<void>;
  /** What the honest chain says that an address received; null if it cannot say. */
  readonly received: (sale: Sale) => Promise<bigint | null>;
  readonly order: (id: string) => Promise<Order>;
}

/** Seeds of a run. LYING_SEED repeats others: the same seed tells the same lies. */
export const lyingSeeds = (count: number, first = 1): number[] => {
  const given = process.env.LYING_SEED;
  return given ? given.split(',').map(Number) : Array.from({ length: count }, (_, n) => first + n);
};

/** Within this time a stack starts and a seed ends, in milliseconds. */
export const SLOW = 240_000;

/** Registers a test for each seed, and one at the end: no later seed changed an earlier order. */
export const testSeeds = (seeds: readonly number[], chain: () => LyingChain): void => {
  const sales: Sale[] = [];
  test.each(seeds)('seed %i', async (seed) => void sales.push(...(await survivesLies(chain(), seed))), SLOW);

  test(
    'and no later seed changed an earlier order',
    async () => {
      for (const sale of sales) await requirePaid(chain(), sale);
    },
    SLOW,
  );
};

// Beside an honest node, these may go on: what the honest one shows can be told apart. A node of another branch or
// height cannot, so it comes to its senses before the money is confirmed.
const PASSING = ['freezes', 'forks', 'answers stale'];

/** Pays some orders while one node lies as the seed says. In the end each transfer is one payment of its amount, and
 *  where another node is honest, the metrics name the one that lied. */
const survivesLies = async (chain: LyingChain, seed: number): Promise<readonly Sale[]> => {
  const random = seededRandom(seed);
  const liar = random.pick(chain.nodes);
  const kinds = Object.keys(chain.lies);
  const kind = kinds[seed % kinds.length]!;
  const isAlone = chain.nodes.length === 1;
  const opened = [];
  for (let left = random.between(1, 3); left > 0; left -= 1) opened.push(await chain.open(random));
  const liesBefore = liar.lies();
  const namedBefore = await timesNamed(chain, liar);
  liar.lie = chain.lies[kind]!(random, await chain.height());
  try {
    const sales: Sale[] = [];
    for (const pay of opened) {
      sales.push(await pay());
      await sleep(random.between(0, 300));
    }
    await sleep(random.between(200, 1_200));
    if (isAlone || PASSING.includes(kind)) liar.lie = null;
    await chain.confirm();
    for (const sale of sales) await requirePaid(chain, sale);
    const isLie = liar.lies() > liesBefore && !PASSING.includes(kind);
    if (isLie && !isAlone) await requireNamed(chain, liar, namedBefore);
    return sales;
  } catch (cause) {
    throw new Error(`seed ${seed}: node ${chain.nodes.indexOf(liar) + 1} ${kind}: ${(cause as Error).message}`, {
      cause,
    });
  } finally {
    liar.lie = null;
  }
};

// A node that refused calls rests for longer each time, and the other one is not believed alone about calls.
const RIGHT_WITHIN_MS = 150_000;

/** Waits until an order and its payments are what the honest chain says. */
const requirePaid = async (chain: LyingChain, sale: Sale): Promise<void> => {
  let wrong: string[] = [];
  const isRight = async () => {
    wrong = differences(await chain.order(sale.order.id), sale, await chain.received(sale));
    return wrong.length === 0;
  };
  await until('the books to equal the chain', isRight, { withinMs: RIGHT_WITHIN_MS }).catch((cause: unknown) => {
    throw new Error([...wrong, ...chain.stack.log.slice(-30)].join('\n'), { cause });
  });
};

/** Differences between an order as the API shows it and the transfers that were sent to it. */
const differences = (order: Order, { status, sent }: Sale, received: bigint | null): string[] => {
  const counted = order.payments.filter((payment) => payment.status !== 'failed');
  const sum = (amounts: readonly (string | undefined)[]) =>
    amounts.reduce((total, amount) => total + unitsOf(amount ?? '0'), 0n);
  const shown = counted.map(({ tx_hash, paid_amount }) => `${tx_hash} ${unitsOf(paid_amount)}`).sort();
  const expected = sent.map(({ txHash, units }) => `${txHash} ${units}`).sort();
  const [paid, applied, unapplied] = [
    sum(counted.map(({ paid_amount }) => paid_amount)),
    sum(counted.map(({ applied_amount }) => applied_amount)),
    sum(counted.map(({ unapplied_amount }) => unapplied_amount)),
  ] as const;
  const total = unitsOf(order.total_amount);
  const remaining = total > applied ? total - applied : 0n;
  const different = (name: string, is: unknown, shouldBe: unknown) =>
    String(is) === String(shouldBe) ? [] : [`${name} of ${order.id} is ${String(is)}, not ${String(shouldBe)}`];
  return [
    ...different('the status', order.status, status),
    ...different('the list of payments', shown, expected),
    ...different(
      'the statuses of payments',
      counted.map((each) => each.status),
      counted.map(() => 'applied'),
    ),
    ...different('what was applied and what was not', applied + unapplied, paid),
    ...different('the remaining amount', unitsOf(order.remaining_amount), remaining),
    ...different('what the chain says was received', received ?? paid, paid),
  ];
};

/** Amounts of one currency have one scale. */
const unitsOf = (amount: string): bigint => BigInt(amount.replace('.', ''));

const timesNamed = async ({ stack, network, nodes }: LyingChain, liar: LyingNode): Promise<number> => {
  const text = await metricsOf(stack.environment);
  const node = String(nodes.indexOf(liar) + 1);
  return [...text.matchAll(/^chain_[a-z_]+_total\{([^}]*)\} (\S+)$/gm)]
    .filter(([, labels]) => labels!.includes(`network="${network}"`) && labels!.includes(`node="${node}"`))
    .reduce((sum, [, , value]) => sum + Number(value), 0);
};

const requireNamed = async (chain: LyingChain, liar: LyingNode, before: number): Promise<void> => {
  expect(await timesNamed(chain, liar)).toBeGreaterThan(before);
};
