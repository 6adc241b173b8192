import pMap from 'p-map';
import { checkedAnswer, listOf } from '../nodes/answers.ts';
import type { Transfer, Watched } from '../chain-source.ts';
import { ChainNodeError } from '../chain-source.ts';
import { RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { Bytes, Hash, UNKNOWN } from './answers.ts';
import { DecodeError, idOf, type RawTransaction, Reader, readTransaction } from './transactions.ts';

// The rest of a large mempool follows at the next calls.
const TRANSACTIONS_PER_CALL = 2_000;
const CONCURRENT = 8;

/** Reads each transaction of the mempool once, while it stays there. All addresses of a call are looked up at once. */
export const mempoolReader = <Paid>(
  nodes: Nodes,
  paidBy: (bytes: Buffer, transaction: RawTransaction) => readonly Paid[],
  transfersAmong: (paid: readonly Paid[], watched: Watched) => Promise<readonly Transfer[]>,
): ((watched: Watched) => Promise<readonly Transfer[]>) => {
  let seen = new Map<string, readonly Transfer[]>();

  return async (watched) => {
    const { node, answer: ids } = (await nodes.first(listedIds))!;
    seen = new Map(ids.flatMap((id) => (seen.has(id) ? [[id, seen.get(id)!] as const] : [])));
    const unread = ids.filter((id) => !seen.has(id)).slice(0, TRANSACTIONS_PER_CALL);
    const read = async (id: string) => {
      const found = await fetchTransaction(node, id);
      return found ? [{ id, paid: paidBy(found.bytes, found.transaction) }] : [];
    };
    const fetched = (await pMap(unread, read, { concurrency: CONCURRENT })).flat();
    const transfers = await transfersAmong(
      fetched.flatMap(({ paid }) => paid),
      watched,
    );
    for (const { id } of fetched)
      seen.set(
        id,
        transfers.filter(({ txHash }) => txHash === id),
      );
    return [...seen.values()].flat();
  };
};

const listedIds = async (node: RpcNode): Promise<string[]> =>
  checkedAnswer(node, 'getrawmempool', listOf(Hash), await node.call('getrawmempool'));

/** Null if the transaction left the mempool. */
const fetchTransaction = async (
  node: RpcNode,
  id: string,
): Promise<{ bytes: Buffer; transaction: RawTransaction } | null> => {
  const fail = (why: string) => new ChainNodeError('mismatch', `node ${node.number}, getrawtransaction: ${why}`);
  try {
    const method = 'getrawtransaction';
    const bytes = checkedAnswer(node, method, Bytes, await node.call(method, [id, 0]));
    const reader = new Reader(bytes);
    const transaction = readTransaction(reader);
    if (idOf(bytes, transaction) !== id || !reader.isAtEnd) throw fail('is another transaction than the requested one');
    return { bytes, transaction };
  } catch (error) {
    if (error instanceof RpcError) {
      if (error.code === UNKNOWN) return null;
      throw new ChainNodeError('refused', error.message, { cause: error });
    }
    if (error instanceof DecodeError) throw fail(error.message);
    throw error;
  }
};
