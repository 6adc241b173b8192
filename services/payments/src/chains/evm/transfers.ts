import type { Transfer } from '../chain-source.ts';
import type { Log, Receipt, Transaction } from './answers.ts';
import { type EvmBlock, TRANSFER_TOPIC } from './block.ts';
import type { InternalCall } from './internal-calls.ts';

export interface Wanted {
  /** The address in its spelling, if it is watched. */
  readonly watchedAddress: (address: string) => string | null;
  /** CAIP-19 by contract in lower case; the native coin has the key undefined. */
  readonly assetByContract: ReadonlyMap<string | undefined, string>;
}

/** The transfers to watched addresses, in the order of the block. Failed transactions pay nobody. */
export const transfersOf = (
  { transactions }: EvmBlock,
  receipts: readonly Receipt[],
  calls: ReadonlyMap<string, readonly InternalCall[]>,
  wanted: Wanted,
): Transfer[] => {
  const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  return transactions.flatMap((transaction) => {
    const { hash } = transaction;
    const receipt = receiptOf.get(hash);
    if (receipt?.status === '0x0') return [];
    return [
      ...(receipt ? [...nativeTransfer(transaction, wanted), ...tokenTransfers(receipt, wanted)] : []),
      ...internalTransfers(hash, calls.get(hash) ?? [], wanted),
    ];
  });
};

const nativeTransfer = ({ hash, to, value }: Transaction, { watchedAddress, assetByContract }: Wanted): Transfer[] => {
  const asset = assetByContract.get(undefined);
  const address = asset !== undefined && value > 0n && to ? watchedAddress(to) : null;
  return address === null ? [] : [{ id: `${hash}:native`, txHash: hash, address, asset: asset!, units: value }];
};

const internalTransfers = (
  hash: string,
  calls: readonly InternalCall[],
  { watchedAddress, assetByContract }: Wanted,
): Transfer[] =>
  calls.flatMap(({ to, value }, index) => {
    const address = watchedAddress(to);
    if (address === null) return [];
    return [
      { id: `${hash}:native${index + 1}`, txHash: hash, address, asset: assetByContract.get(undefined)!, units: value },
    ];
  });

/** The position of a log inside its receipt stays when the transaction is mined again in another block. */
const tokenTransfers = ({ transactionHash: hash, logs }: Receipt, { watchedAddress, assetByContract }: Wanted) =>
  logs.flatMap((log, position): Transfer[] => {
    const asset = assetByContract.get(log.address);
    const payment = asset !== undefined ? transferOf(log) : null;
    const address = payment && watchedAddress(payment.to);
    if (!payment || !address) return [];
    return [{ id: `${hash}:${position}`, txHash: hash, address, asset: asset!, units: payment.units }];
  });

const UNITS = /^0x[0-9a-f]{64}$/;

/** Null for another event, and for a transfer of nothing. */
const transferOf = ({ topics: [topic, , to], data }: Log): { to: string; units: bigint } | null => {
  if (topic !== TRANSFER_TOPIC || to === undefined || !UNITS.test(data)) return null;
  const units = BigInt(data);
  return units > 0n ? { to: `0x${to.slice(-40)}`, units } : null;
};
