import { z } from 'zod';
import { ChainNodeError } from '../chain-source.ts';
import { checkedAnswer, RpcError, type RpcNode } from '../nodes/json-rpc.ts';
import { DecodeError, idOf, type RawTransaction, Reader, readTransaction } from './block.ts';

/** RPC_INVALID_ADDRESS_OR_KEY: the node does not know the block or transaction. */
export const UNKNOWN = -5;

/** Of a block or a transaction, as explorers spell it. */
export const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** A block, a transaction or a script. */
export const Bytes = z
  .string()
  .refine((text) => text.length % 2 === 0 && !/[^0-9a-f]/i.test(text))
  .transform((text) => Buffer.from(text, 'hex'));

const METHOD = 'getrawtransaction';

/** A transaction of the mempool, or of any block where the node has an index of transactions (`txindex`). Its id proves
 *  its content. Null if the node does not have it. */
export const fetchTransaction = async (
  node: RpcNode,
  id: string,
): Promise<{ readonly bytes: Buffer; readonly transaction: RawTransaction } | null> => {
  const fail = (why: string) => new ChainNodeError('mismatch', `node ${node.number}, ${METHOD}: ${why}`);
  try {
    const bytes = checkedAnswer(node, METHOD, Bytes, await node.call(METHOD, [id, 0]));
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

const WithSpentOutputs = z.object({
  vin: z.array(z.object({ prevout: z.object({ scriptPubKey: z.object({ hex: Bytes }) }).optional() })),
});

/** The scripts of the outputs that a transaction in a block spends, as the node says: nothing proves them. Null if the
 *  node does not know them, as btcd, and Bitcoin Core before 26.0. */
export const fetchSpentScripts = async (
  node: RpcNode,
  id: string,
  blockHash: string,
): Promise<readonly Buffer[] | null> => {
  try {
    const answer = await node.call(METHOD, [id, 2, blockHash]);
    const { vin } = checkedAnswer(node, METHOD, WithSpentOutputs, answer);
    const scripts = vin.map(({ prevout }) => prevout?.scriptPubKey.hex);
    return scripts.every((script) => script !== undefined) ? scripts : null;
  } catch (error) {
    // A node that does not know this form of the call refuses it in one of many ways.
    if (error instanceof RpcError) return null;
    throw error;
  }
};
