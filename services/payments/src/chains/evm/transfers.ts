import { checksummed } from '@cpg/assets';
import type { Transfer } from '../chain-source.ts';
import type { Log, Receipt, Transaction } from './answers.ts';
import { type EvmBlock, TRANSFER_TOPIC } from './block.ts';
import type { TransactionCalls } from './internal-calls.ts';

/** CAIP-19 by contract in lower case; the native coin has the key undefined. */
export type AssetByContract = ReadonlyMap<string | undefined, string>;

/** How deposit instructions spell an address. */
export const spelled = (address: string): string => checksummed(address.slice(2));

/** The transfers of some assets to anybody, in the order of the block and without calls inside transactions. Failed
 *  transactions pay nobody. */
export const transfersOf = (
  { transactions }: EvmBlock,
  receipts: readonly Receipt[],
  assets: AssetByContract,
): Transfer[] => {
  const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  return transactions.flatMap((transaction) => {
    const receipt = receiptOf.get(transaction.hash);
    if (receipt?.status !== '0x1') return [];
    return [...nativeTransfer(transaction, assets), ...tokenTransfers(receipt, assets)];
  });
};

const nativeTransfer = ({ hash, to, value }: Transaction, assets: AssetByContract): Transfer[] => {
  const asset = assets.get(undefined);
  if (asset === undefined || value === 0n || !to) return [];
  return [{ id: `${hash}:native`, txHash: hash, address: spelled(to), asset, units: value }];
};

/** The transfers of the native coin by calls inside transactions, in the order of the block. */
export const callTransfersOf = ({ transactions }: EvmBlock, calls: TransactionCalls, asset: string): Transfer[] =>
  transactions.flatMap(({ hash }) =>
    (calls.get(hash) ?? []).map(({ to, value: units }, index) => {
      const id = `${hash}:native${index + 1}`;
      return { id, txHash: hash, address: spelled(to), asset, units };
    }),
  );

/** The position of a log inside its receipt stays when the transaction is mined again in another block. */
const tokenTransfers = ({ transactionHash: hash, logs }: Receipt, assets: AssetByContract): Transfer[] =>
  logs.flatMap((log, position) => {
    const asset = assets.get(log.address);
    const payment = asset !== undefined ? transferOf(log) : null;
    if (!payment) return [];
    return [
      { id: `${hash}:${position}`, txHash: hash, address: spelled(payment.to), asset: asset!, units: payment.units },
    ];
  });

const UNITS = /^0x[0-9a-f]{64}$/;

/** Null for another event, and for a transfer of nothing. */
const transferOf = ({ topics: [topic, , to], data }: Log): { to: string; units: bigint } | null => {
  if (topic !== TRANSFER_TOPIC || to === undefined || !UNITS.test(data)) return null;
  const units = BigInt(data);
  return units > 0n ? { to: `0x${to.slice(-40)}`, units } : null;
};
