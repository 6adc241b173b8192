import type { Asset } from '@cpg/assets';
import { ConfigError, type Logger } from '@cpg/platform';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import { ZodError } from 'zod';
import { ChainNodeError } from '../chain-source.ts';
import { RpcError, type RpcNode, rpcNode } from '../nodes/json-rpc.ts';
import { Bytes } from './block.ts';

/** The effect that a transfer of a token would have, calculated by a node without a transaction. */
export interface SimulatedTransfer {
  readonly sent: bigint;
  readonly arrived: bigint;
}

export interface TransferFeeOptions {
  /** The assets of all networks. */
  readonly assets: readonly Asset[];
  /** The nodes of each network. */
  readonly urls: Readonly<Record<string, readonly string[]>>;
  readonly log: Logger;
}

/** Throws ConfigError for tokens that are offered and keep a part of each transfer: a payer who sends the amount of the
 *  order pays too little. Logs the tokens for which no node can tell. */
export const refuseTransferFees = async ({ assets, urls, log }: TransferFeeOptions): Promise<void> => {
  const faults: string[] = [];
  const unknown: string[] = [];
  for (const { id, contract, currency, network, isRetired } of assets) {
    const nodeUrls = urls[network.name];
    if (!nodeUrls || contract === undefined || isRetired) continue;
    const simulated = await firstOf(nodeUrls, (node) => simulateTransfer(node, contract));
    if (!simulated) unknown.push(id);
    else if (simulated.arrived < simulated.sent)
      faults.push(
        `${currency} on ${network.name} (${contract}) keeps a part of each transfer: of ${simulated.sent} units, ${simulated.arrived} arrive. Payers would pay too little: remove its row from ASSETS_FILE, or add "retired": true if orders show it`,
      );
  }
  if (unknown.length > 0)
    log.info({ assets: unknown }, 'no node can simulate a transfer of these tokens: check that they keep no fee');
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
};

/** The answer of the first node that has one. */
const firstOf = async <T>(urls: readonly string[], ask: (node: RpcNode) => Promise<T | null>): Promise<T | null> => {
  for (const [index, url] of urls.entries()) {
    const node = rpcNode({ url, number: index + 1 });
    try {
      const answer = await ask(node);
      if (answer !== null) return answer;
    } catch (error) {
      if (!(error instanceof ChainNodeError)) throw error;
    } finally {
      await node.close();
    }
  }
  return null;
};

const addressOf = (name: string): string => hex.encode(keccak_256(Buffer.from(name)).subarray(-20));
const PAYER = addressOf('payer of simulated transfers');
const PAYEE = addressOf('payee of simulated transfers');
const SENT = 1_000_000_000n;

const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const keyIn = (slot: bigint): string => `0x${hex.encode(keccak_256(hex.decode(PAYER.padStart(64, '0') + word(slot))))}`;

// Where contracts keep balances: one of the first slots, or that of OpenZeppelin 5 (ERC-7201,
// "openzeppelin.storage.ERC20").
const BALANCE_KEYS = [
  ...Array.from({ length: 256 }, (_, slot) => keyIn(BigInt(slot))),
  keyIn(0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n),
];

const BALANCE_OF = '70a08231';
const TRANSFER = 'a9059cbb';

/** Gives a payer units in the storage of the contract, and has it transfer them, all in calls that change nothing. Null
 *  if the node or the contract does not allow that. Source: `eth_call` of go-ethereum, "state override set". */
export const simulateTransfer = async (
  { call }: Pick<RpcNode, 'call'>,
  contract: string,
): Promise<SimulatedTransfer | null> => {
  const wordsOf = async (to: string, data: string, overrides: object): Promise<bigint[] | null> => {
    const answer = Bytes.parse(await call('eth_call', [{ to, data }, 'latest', overrides]));
    return /^0x([0-9a-f]{64})+$/i.test(answer)
      ? answer
          .slice(2)
          .match(/.{64}/g)!
          .map((each) => BigInt(`0x${each}`))
      : null;
  };
  try {
    // A different amount in each place tells which one holds the balance.
    const everywhere = Object.fromEntries(BALANCE_KEYS.map((key, n) => [key, `0x${word(SENT + BigInt(n))}`]));
    const found = await wordsOf(contract, `0x${BALANCE_OF}${PAYER.padStart(64, '0')}`, {
      [contract]: { stateDiff: everywhere },
    });
    const key = BALANCE_KEYS[Number((found?.[0] ?? 0n) - SENT)];
    if (key === undefined) return null;
    const [isSent, arrived] =
      (await wordsOf(`0x${PAYER}`, '0x', {
        [contract]: { stateDiff: { [key]: `0x${word(SENT)}` } },
        [`0x${PAYER}`]: { code: payerCode(contract.slice(2)) },
      })) ?? [];
    return isSent === 1n && arrived ? { sent: SENT, arrived } : null;
  } catch (error) {
    if (error instanceof RpcError || error instanceof ZodError) return null;
    throw error;
  }
};

/** Code that transfers to the payee, and returns whether the call succeeded and what the payee has then. */
const payerCode = (token: string): string => {
  const store = (selector: string, ...values: string[]) =>
    [
      `7f${selector.padEnd(64, '0')}600052`, // the selector in memory from 0
      ...values.map((value, n) => `7f${value.padStart(64, '0')}60${(4 + 32 * n).toString(16).padStart(2, '0')}52`),
    ].join('');
  return [
    `0x${store(TRANSFER, PAYEE, word(SENT))}`,
    `6000600060446000600073${token}5af1608052`, // call; success to 0x80
    store(BALANCE_OF, PAYEE),
    `602060a06024600073${token}5afa50`, // staticcall; balance to 0xa0
    '60406080f3', // both words
  ].join('');
};
