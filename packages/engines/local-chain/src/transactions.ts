import { setTimeout as sleep } from 'node:timers/promises';
import { setClock } from './anvil.ts';
import type { RpcCall } from './node-process.ts';

const MINED_WITHIN_MS = 10_000;

/** A transaction of an account that anvil signs for. */
export interface Transaction {
  /** Absent for a deployment. */
  readonly to?: string;
  readonly data?: string;
  /** In hex digits, as the other quantities. */
  readonly value?: string;
  readonly gas?: string;
  readonly nonce?: string;
}

/** Sends a transaction and resolves with its hash. */
export const sendFrom = (call: RpcCall, from: string, transaction: Transaction): Promise<string> =>
  call<string>('eth_sendTransaction', { from, ...transaction });

export interface Receipt {
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** `0x1`, or `0x0` if it was reverted. */
  readonly status: string;
  readonly contractAddress: string | null;
  readonly logs: readonly { readonly logIndex: string }[];
}

/** Waits until a transaction is in a block. */
export const mined = async (call: RpcCall, hash: string): Promise<Receipt> => {
  for (const end = performance.now() + MINED_WITHIN_MS; ; await sleep(20)) {
    const receipt = await call<Receipt | null>('eth_getTransactionReceipt', hash);
    if (receipt) return receipt;
    if (performance.now() > end) throw new Error(`${hash} is in no block after ${MINED_WITHIN_MS / 1000} s`);
  }
};

/** A quantity as nodes read it. */
export const hexOf = (quantity: bigint): string => `0x${quantity.toString(16)}`;

/** Mines empty blocks. */
export const mineBlocks = async (call: RpcCall, count = 1): Promise<void> =>
  void (await call('anvil_mine', hexOf(BigInt(count))));

/** A transaction to mine again, and in which of the new blocks: 0 is the first. */
export interface Remined {
  readonly hash: string;
  readonly block: number;
}

/** Replaces the last `depth` blocks, and sets the clock again: anvil sets it back to the block before them.
 *  Transactions that are not mined again are gone for good. */
export const reorganize = async (call: RpcCall, depth: number, remined: readonly Remined[] = []): Promise<void> => {
  const transactions = await Promise.all(
    remined.map(async ({ hash, block }) => [await call<string>('eth_getRawTransactionByHash', hash), block]),
  );
  await call('anvil_reorg', depth, transactions);
  await setClock(call);
};
