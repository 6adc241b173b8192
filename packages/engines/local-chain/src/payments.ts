import { setClock } from './clock.ts';
import { callData } from './contracts.ts';
import type { RpcCall } from './json-rpc.ts';
import { PAYER } from './test-tokens.ts';
import { mined, type Receipt, sendFrom } from './transactions.ts';

/** What moves on an EVM chain: its coin, or a token by its contract. */
export type EvmAsset = 'native' | { readonly contract: string };

/** The asset with a CAIP-19 id. */
export const evmAssetOf = (id: string): EvmAsset => {
  const contract = /\/erc20:(0x[0-9a-fA-F]{40})$/.exec(id)?.[1];
  return contract ? { contract } : 'native';
};

/** Pays from the funded account, and resolves once a block contains the transaction. Throws Error if it is reverted. */
export const pay = async (call: RpcCall, asset: EvmAsset, to: string, units: bigint): Promise<Receipt> => {
  const transaction =
    asset === 'native'
      ? { to, value: hexOf(units) }
      : { to: asset.contract, data: callData('TestToken', 'transfer(address,uint256)', { address: to }, units) };
  const receipt = await mined(call, await sendFrom(call, PAYER, transaction));
  if (receipt.status !== '0x1') throw new Error(`the transaction ${receipt.transactionHash} was reverted`);
  return receipt;
};

/** A quantity as nodes read it. */
export const hexOf = (quantity: bigint): string => `0x${quantity.toString(16)}`;

/** Mines empty blocks. */
export const mineBlocks = async (call: RpcCall, count = 1): Promise<void> =>
  void (await call('anvil_mine', hexOf(BigInt(count))));

/** A transaction to mine again, in which of the new blocks. */
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
