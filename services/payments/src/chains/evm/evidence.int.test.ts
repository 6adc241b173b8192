import { mined, startAnvil } from '@cpg/local-chain';
import { evmPayer, localAssets, OTHER_TOKEN, TOKEN } from '../../testing/jest-evm.ts';
import {
  anvil,
  blockOf,
  ETH,
  inOneBlock,
  open,
  OTHER,
  pay,
  proxy,
  STRANGER,
  WATCHED,
  watched,
} from '../../testing/jest-evm-source.ts';
import { type RpcQuestion, startNodeProxy } from '../../testing/jest-node-proxy.ts';
import type { ChainSource, Transfer } from '../chain-source.ts';
import { TRANSFER_TOPIC } from './block.ts';

const USDC = `eip155:31337/erc20:${TOKEN}`;

interface AnyBlock {
  readonly transactions: readonly { readonly hash: string }[];
}
interface AnyReceipt {
  readonly logs: readonly { readonly data: string; readonly logIndex: string }[];
}
interface AnyFrame {
  readonly result: { readonly calls?: readonly object[] };
}

type Lies = Record<string, (honest: never, question: RpcQuestion) => unknown>;
/** The proxy answers otherwise than anvil; null stands for a method that it lacks. */
const lie = (lies: Lies, lacking: readonly string[] = []) => {
  proxy.falsify = (question, honest) => {
    const { method } = question;
    if (lacking.includes(method)) return { error: { code: -32_601, message: 'no such method' } };
    return lies[method] && honest !== undefined ? { result: lies[method](honest as never, question) } : undefined;
  };
};

/** Opens the proxy, which lies, and anvil, which does not. */
const opened = (urls = [proxy.url, anvil.url]) => {
  const faults: string[] = [];
  const unproven: string[] = [];
  const source = open({
    urls,
    onFault: (fault, node) => faults.push(`${fault} ${node}`),
    onUnproven: (_, part) => unproven.push(part),
  });
  return { source, faults, unproven };
};
const readWith = async (source: ChainSource, hash: string, not?: readonly number[]) =>
  source.block(await blockOf(hash), watched, { ...(not && { not }) });

/** A chain with another id, behind a proxy that changes some answers. */
const startOther = async (chainId: number) => {
  const chain = await startAnvil({ chainId });
  const other = { answers: {} as Lies };
  const liar = await startNodeProxy(async (question) => {
    const answer = await chain.call(question.method, ...question.params);
    return other.answers[question.method]?.(answer as never, question) ?? answer;
  });
  stops.push(liar.close, chain.stop);
  const source = open({ urls: [liar.url] }, localAssets(6, `eip155:${chainId}`, []));
  const payer = evmPayer(chain);
  await payer.deploy();
  const read = async (hash: string) => {
    const { blockNumber, blockHash } = await mined(chain.call, hash);
    return source.block({ height: Number(blockNumber), hash: blockHash }, watched);
  };
  return Object.assign(other, { pay: payer, read });
};
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

const withLogs = (change: (log: AnyReceipt['logs'][number]) => object) => (receipts: readonly AnyReceipt[]) =>
  receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.map(change) }));
const larger = withLogs((log) => ({ ...log, data: `${log.data.slice(0, -3)}fff` }));
const withoutLogs = (receipts: readonly AnyReceipt[]) => receipts.map((receipt) => ({ ...receipt, logs: [] }));

describe('the hash of a block decides', () => {
  let hash: string;
  let expected: Transfer;
  beforeAll(async () => {
    hash = await pay.token(WATCHED, 4n);
    expected = { id: `${hash}:0`, txHash: hash, address: WATCHED, asset: USDC, units: 4n };
  });

  test.each<[string, Lies]>([
    ['leaves out a log', { eth_getBlockReceipts: withoutLogs }],
    ['shows a larger amount', { eth_getBlockReceipts: larger }],
    [
      'says that a transaction failed',
      { eth_getBlockReceipts: (receipts: readonly object[]) => receipts.map((each) => ({ ...each, status: '0x0' })) },
    ],
    ['leaves out a transaction', { eth_getBlockByHash: (block: object) => ({ ...block, transactions: [] }) }],
    [
      'shows a larger value of a transaction',
      {
        eth_getBlockByHash: (block: AnyBlock) => ({
          ...block,
          transactions: block.transactions.map((each) => ({ ...each, value: '0xffff', to: WATCHED })),
        }),
      },
    ],
    [
      'shows other logs than the header',
      { eth_getBlockByHash: (block: object) => ({ ...block, logsBloom: `0x${'0'.repeat(512)}` }) },
    ],
  ])('against a node that %s', async (_, lies) => {
    lie(lies);
    const { source, faults, unproven } = opened();
    const block = await readWith(source, hash);
    expect(block).toMatchObject({ transfers: [expected], nodes: [2], isProven: true, isTraced: true });
    expect(faults).toEqual(['mismatch 1']);
    await expect(readWith(opened([proxy.url]).source, hash)).rejects.toMatchObject({ fault: 'mismatch' });
    expect(unproven).toEqual([]);
  });

  test('and one node is enough for money that it proves', async () => {
    const { source, faults } = opened();
    expect(await readWith(source, hash)).toMatchObject({ transfers: [expected], nodes: [1], isProven: true });
    expect(await readWith(source, hash, [1])).toMatchObject({ transfers: [expected], nodes: [2], isProven: true });
    expect(faults).toEqual([]);
  });

  test('of a node that leaves out lists without items and filters of receipts', async () => {
    const without = (name: string) => (items: readonly object[]) =>
      items.map((item) => ({ ...item, [name]: undefined }));
    lie({
      eth_getBlockByHash: (block: AnyBlock) => ({
        ...block,
        transactions: without('accessList')(block.transactions),
      }),
      eth_getBlockReceipts: without('logsBloom'),
    });
    expect(await readWith(opened([proxy.url]).source, hash)).toMatchObject({ transfers: [expected], isProven: true });
  });

  test('against a node that has no receipts of blocks and answers no logs for a moment', async () => {
    lie({ eth_getLogs: () => [] }, ['eth_getBlockReceipts']);
    const { source, faults } = opened();
    expect(await readWith(source, hash)).toMatchObject({ transfers: [expected], nodes: [2], isProven: true });
    expect(faults).toEqual(['mismatch 1']);
    const alone = opened([proxy.url]).source;
    await expect(readWith(alone, hash)).rejects.toMatchObject({ fault: 'mismatch' });
    lie({}, ['eth_getBlockReceipts']);
    expect(await readWith(alone, hash)).toMatchObject({ transfers: [expected], isProven: true });
  });

  test('says that no money came only if it proves that', async () => {
    lie({}, ['eth_getBlockReceipts']);
    const alone = opened([proxy.url]).source;
    const [toStranger] = await inOneBlock(async () => [await pay.token(STRANGER, 1n)]);
    expect(await readWith(alone, toStranger!)).toMatchObject({ transfers: [], isProven: false });
    expect(await readWith(opened().source, toStranger!)).toMatchObject({
      transfers: [],
      isProven: true,
      nodes: [1, 2],
    });
    const withoutTokens = await pay.native(STRANGER, 1n);
    expect(await readWith(alone, withoutTokens)).toMatchObject({ transfers: [], isProven: true });
  });

  test('needs no receipts of a block without tokens and without money', async () => {
    const unrelated = await pay.native(STRANGER, 1n);
    const { source } = opened([proxy.url]);
    await readWith(source, hash);
    proxy.asked.length = 0;
    expect(await readWith(source, unrelated)).toMatchObject({ transfers: [], isProven: true });
    expect(proxy.asked.map(({ method }) => method)).not.toContain('eth_getBlockReceipts');
  });
});

describe('a chain whose blocks have an unknown form', () => {
  const newFork = {
    eth_getBlockByHash: (block: object) => ({ ...block, logsBloom: `0x${'0'.repeat(512)}`, newRoot: '0x1' }),
  };

  test('is read, said to be unproven, and needs nodes that agree', async () => {
    const hash = await pay.token(WATCHED, 6n);
    const { source, faults, unproven } = opened([proxy.url, proxy.url]);
    lie(newFork);
    const block = await readWith(source, hash);
    expect(block).toMatchObject({ isProven: false, nodes: [1, 2] });
    expect(block.transfers).toMatchObject([{ id: `${hash}:0`, units: 6n }]);
    expect(unproven).toEqual(['header', 'header']);
    let asked = 0;
    lie({
      ...newFork,
      eth_getBlockReceipts: (receipts: readonly AnyReceipt[]) => ((asked += 1) % 2 === 0 ? receipts : larger(receipts)),
    });
    await expect(readWith(source, hash)).rejects.toThrow(
      new RegExp(`differ on the transfers of block 0x.*: node 1 says 1 .* of (6|4095) units.*, node 2 says 1 .* units`),
    );
    expect(faults).toEqual(['disagreement 1', 'disagreement 2']);
  });

  test('is read by the node that proves it, if another one does not', async () => {
    const hash = await pay.token(WATCHED, 6n);
    lie({ ...newFork, eth_getBlockReceipts: larger });
    const { source, faults } = opened();
    expect(await readWith(source, hash)).toMatchObject({ transfers: [{ units: 6n }], nodes: [2], isProven: true });
    expect(faults).toEqual(['mismatch 1']);
  });

  test('counts as known once a block was proven', async () => {
    const chain = await startOther(42_161);
    const hash = await chain.pay.token(WATCHED, 6n);
    chain.answers = { eth_getBlockReceipts: larger };
    expect(await chain.read(hash)).toMatchObject({ isProven: false, transfers: [{ units: 4_095n }] });
    chain.answers = {};
    expect(await chain.read(hash)).toMatchObject({ isProven: true, transfers: [{ units: 6n }] });
    chain.answers = { eth_getBlockReceipts: larger };
    await expect(chain.read(hash)).rejects.toMatchObject({ fault: 'mismatch' });
  });
});

test('reads a block of Polygon to which the node added a transaction, and does not say that this is proven', async () => {
  const chain = await startOther(137);
  const hash = await chain.pay.token(WATCHED, 6n);
  const transactionHash = `0x${'5'.repeat(64)}`;
  const nobody = `0x${'0'.repeat(40)}`;
  const added = { to: nobody, from: nobody, value: '0x0', gas: '0x0', gasPrice: '0x0', nonce: '0x0', input: '0x' };
  chain.answers = {
    eth_getBlockByHash: (block: AnyBlock & { hash: string }) => ({
      ...block,
      transactions: [
        ...block.transactions,
        { ...added, hash: transactionHash, blockHash: block.hash, type: '0x0', v: '0x0', r: '0x0', s: '0x0' },
      ],
    }),
    eth_getBlockReceipts: (receipts: readonly (AnyReceipt & { transactionHash: string })[]) => [
      ...receipts,
      ...receipts.map((each) => ({
        ...each,
        transactionHash,
        logs: each.logs.map((log) => ({ ...log, transactionHash, logIndex: '0x99' })),
      })),
    ],
  };
  expect(await chain.read(hash)).toMatchObject({
    isProven: false,
    transfers: [{ id: `${hash}:0` }, { id: `${transactionHash}:0` }],
  });
  chain.answers = {};
  expect(await chain.read(hash)).toMatchObject({ isProven: true, transfers: [{ id: `${hash}:0` }] });
});

describe('a token that keeps a part of each transfer', () => {
  const opcodes = [
    ...['600035', '60e01c', '8063313ce56714605c57', '6370a0823114606757'], // by selector
    ...['602435', '8060649004', '8103', '600435', '8054', '918201', '905550'], // 99 % go to the payee
    ...['600052', '60043533', `7f${TRANSFER_TOPIC.slice(2)}`, '60206000a300'], // the whole amount is logged
    ...['5b600660005260206000f3', '5b6004355460005260206000f3'], // decimals, balance
  ];
  beforeAll(async () => void (await anvil.call('anvil_setCode', OTHER_TOKEN, `0x${opcodes.join('')}`)));

  test('credits what arrived', async () => {
    const [one, two] = await inOneBlock(async () => [
      await pay.token(WATCHED, 10_000n, OTHER_TOKEN),
      await pay.token(WATCHED, 200n, OTHER_TOKEN),
    ]);
    const { source } = opened();
    const { transfers, isProven } = await readWith(source, one!);
    expect(isProven).toBe(false);
    expect(transfers.map(({ txHash, units }) => [txHash, units])).toEqual([
      [one, 9_900n],
      [two, 198n],
    ]);
  });

  test('credits what the logs say where no node has the balances, or one of two lies about them', async () => {
    const hash = await pay.token(WATCHED, 100n, OTHER_TOKEN);
    const { source } = opened([proxy.url]);
    const isBalance = ({ params: [call] }: RpcQuestion) => (call as { data: string }).data.startsWith('0x70a08231');
    await source.verify();
    lie({}, ['eth_call']);
    expect(await readWith(source, hash)).toMatchObject({ transfers: [{ units: 100n }] });
    lie({ eth_call: (answer: string, question) => (isBalance(question) ? `0x${'0'.repeat(64)}` : answer) });
    expect(await readWith(opened().source, hash)).toMatchObject({ transfers: [{ units: 99n }] });
  });
});

describe('calls inside transactions', () => {
  const payTwo = () => pay.internal({ to: WATCHED, units: 5n }, { to: OTHER, units: 6n });
  const withoutCalls = (traces: readonly AnyFrame[]) =>
    traces.map((each) => ({ ...each, result: { ...each.result, calls: [] } }));
  const largerCalls = (traces: readonly AnyFrame[]) =>
    traces.map((each) => ({
      ...each,
      result: { ...each.result, calls: each.result.calls?.map((call) => ({ ...call, value: '0xfff' })) },
    }));
  const isOfBalances = ({ params: [call] }: RpcQuestion) => !('to' in (call as object));

  test.each<[string, Lies]>([
    ['leaves them out', { debug_traceBlockByHash: withoutCalls }],
    ['shows larger amounts', { debug_traceBlockByHash: largerCalls }],
  ])('are those that fit balances, if a node %s', async (_, lies) => {
    const hash = await payTwo();
    lie(lies);
    const { source, faults } = opened();
    const block = await readWith(source, hash);
    expect(block.transfers.map(({ asset, units }) => [asset, units])).toEqual([
      [ETH, 5n],
      [ETH, 6n],
    ]);
    expect(block).toMatchObject({ nodes: [2], isProven: true, isTraced: true });
    expect(faults).toEqual(['mismatch 1']);
  });

  test('are waited for if nodes differ on them and on balances', async () => {
    const hash = await payTwo();
    let before: string | undefined;
    lie({
      debug_traceBlockByHash: withoutCalls,
      eth_call: (answer: string, question) => (isOfBalances(question) ? (before ??= answer) : answer),
    });
    const { source, faults } = opened();
    await expect(readWith(source, hash)).rejects.toThrow(/differ on the calls .*: node 1 says 0 .*, node 2 says 2 /);
    expect(faults).toEqual(['disagreement 1', 'disagreement 2']);
  });

  test('are believed from one node if they fit its balances', async () => {
    const hash = await payTwo();
    const { source } = opened([proxy.url]);
    expect((await readWith(source, hash)).transfers).toHaveLength(2);
    lie({ debug_traceBlockByHash: largerCalls });
    await expect(readWith(source, hash)).rejects.toMatchObject({ fault: 'mismatch' });
    lie({}, ['eth_call']); // a node that has the traces and no state
    expect((await readWith(source, hash)).transfers).toHaveLength(2);
  });

  test('are unknown without traces, and balances show what they brought', async () => {
    const { height } = await blockOf(await pay.native(STRANGER, 1n));
    const hash = await payTwo();
    lie({}, ['debug_traceBlockByHash', 'trace_block']);
    const { source } = opened([proxy.url]);
    expect(await readWith(source, hash)).toMatchObject({ transfers: [], isProven: true, isTraced: false });
    const addresses = [WATCHED, OTHER];
    const after = (await source.balances!(await blockOf(hash), addresses))!;
    const before = (await source.balances!((await source.at(height))!, addresses))!;
    expect(addresses.map((address) => after.get(address)! - before.get(address)!)).toEqual([5n, 6n]);
    lie({}, ['eth_call']);
    expect(await source.balances!(await blockOf(hash), addresses)).toBeNull();
  });
});

test.each([['--optimism'], ['--hardfork', 'cancun'], ['--hardfork', 'london']])(
  'proves blocks of anvil %s',
  async (...moreArgs) => {
    const chain = await startAnvil({ moreArgs: moreArgs.filter((each) => typeof each === 'string') });
    try {
      const payer = evmPayer(chain);
      await payer.deploy();
      await payer.token(WATCHED, 6n);
      const source = open({ urls: [chain.url] });
      expect(await source.block(await source.tip(), watched)).toMatchObject({
        isProven: true,
        transfers: [{ units: 6n }],
      });
    } finally {
      await chain.stop();
    }
  },
);
