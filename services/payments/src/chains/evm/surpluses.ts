import { type Transfer, type Watched } from '../chain-source.ts';
import type { RpcNode } from '../json-rpc.ts';
import { surplusId } from '../same-money.ts';
import { checkedAnswer, type Receipt, requireMatch, type Transaction } from './answers.ts';
import type { EvmBlock } from './block.ts';
import { bytesIn } from './fields.ts';

// Init code that returns the balances of the addresses behind it: one call reads many, on every node. The answer counts
// as the code of a contract, which has at most 24,576 bytes (EIP-170).
const BALANCES_CODE =
  '0x6039380360005b81811015602d57601481603901600c3960005131816014900460051b602001526014016006565b506014900460051b6020f3';
const ADDRESSES_PER_CALL = 500;
const WORD_DIGITS = 64;

export interface SurplusOptions {
  /** At least those of transactions that watched addresses sent. */
  readonly receipts: readonly Receipt[];
  readonly found: readonly Transfer[];
  readonly watched: Watched;
  /** CAIP-19 of the native coin. */
  readonly asset: string;
}

/** For nodes without traces: the growth of each balance beyond the transfers `found`.
 *  Throws RpcError if the node no longer has the state of the block. */
export const surplusesIn = async (
  node: RpcNode,
  { header, transactions }: EvmBlock,
  { receipts, found, watched, asset }: SurplusOptions,
): Promise<Transfer[]> => {
  const spent = spentBySenders(transactions, receipts);
  const addresses = [...watched.keys()];
  const surpluses: Transfer[] = [];
  for (let start = 0; start < addresses.length; start += ADDRESSES_PER_CALL) {
    const some = addresses.slice(start, start + ADDRESSES_PER_CALL);
    const [before, after] = await Promise.all([
      balancesAt(node, header.parentHash, some),
      balancesAt(node, header.hash, some),
    ]);
    for (const [index, address] of some.entries()) {
      const grown = after[index]! - before[index]! + (spent.get(address.toLowerCase()) ?? 0n);
      const units = grown - unitsTo(address, asset, found);
      if (units > 0n)
        surpluses.push({ id: surplusId(address, header.number, units), txHash: null, address, asset, units });
    }
  }
  return surpluses;
};

/** What each sender paid in its own transactions: fees, and the values of successful ones. */
const spentBySenders = (
  transactions: readonly Transaction[],
  receipts: readonly Receipt[],
): ReadonlyMap<string, bigint> => {
  const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  const spent = new Map<string, bigint>();
  for (const { hash, from, value } of transactions) {
    const receipt = receiptOf.get(hash);
    if (!receipt) continue; // the sender is not watched
    const paid = feeOf(receipt) + (receipt.status === '0x1' ? value : 0n);
    spent.set(from, (spent.get(from) ?? 0n) + paid);
  }
  return spent;
};

/** Includes the fees for blobs (EIP-4844) and, on a layer 2, for layer 1. */
const feeOf = ({ gasUsed, effectiveGasPrice, blobGasUsed, blobGasPrice, l1Fee }: Receipt): bigint =>
  BigInt(gasUsed) * BigInt(effectiveGasPrice) +
  BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0) +
  BigInt(l1Fee ?? 0);

const unitsTo = (address: string, asset: string, found: readonly Transfer[]): bigint =>
  found
    .filter((transfer) => transfer.address === address && transfer.asset === asset)
    .reduce((sum, { units }) => sum + units, 0n);

const balancesAt = async (node: RpcNode, blockHash: string, addresses: readonly string[]): Promise<bigint[]> => {
  const data = BALANCES_CODE + addresses.map((address) => address.slice(2)).join('');
  const words = checkedAnswer(node, 'eth_call', bytesIn, await node.call('eth_call', [{ data }, { blockHash }])).slice(
    2,
  );
  requireMatch(
    words.length === addresses.length * WORD_DIGITS,
    node,
    'eth_call',
    'has not one balance for each address',
  );
  return addresses.map((_, index) => BigInt(`0x${words.slice(index * WORD_DIGITS, (index + 1) * WORD_DIGITS)}`));
};
