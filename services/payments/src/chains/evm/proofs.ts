import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ZodError } from 'zod';
import { type BlockRef, ChainNodeError } from '../chain-source.ts';
import type { RpcNode } from '../nodes/json-rpc.ts';
import type { FetchedBlock, Receipt } from './block.ts';
import {
  encodedReceipt,
  encodedTransaction,
  hashOf,
  hasKnownForm,
  hasUnknownParts,
  headerHash,
  listRoot,
} from './encodings.ts';

/** Proofs of the answers of a node by the hash of a block. A method throws ChainNodeError if an answer contradicts
 *  the hash on a chain whose blocks have a known form. */
export interface Proofs {
  readonly header: (node: RpcNode, block: FetchedBlock) => boolean;
  /** For a block whose header is proven. */
  readonly transactions: (node: RpcNode, block: FetchedBlock) => Promise<boolean>;
  /** For a block whose header is proven, with the receipt of each transaction. */
  readonly receipts: (node: RpcNode, block: FetchedBlock, receipts: readonly Receipt[]) => Promise<boolean>;
}

type Part = keyof Proofs;

/** Ethereum and its test networks, chains of the OP Stack, chains of one machine. The form of any other chain counts as
 *  known once a block was proven. */
const KNOWN_CHAINS = [1, 11_155_111, 17_000, 560_048, 10, 11_155_420, 8_453, 84_532, 31_337, 1_337];
const PARTS: readonly Part[] = ['header', 'transactions', 'receipts'];
/** Nodes of Polygon PoS add a transaction that the roots do not contain: it brings events from Ethereum. */
const POLYGON_CHAINS = [137, 80_002];
const NO_ADDRESS = `0x${'00'.repeat(20)}`;
const ITEMS_PER_TURN = 50;

/** `onUnproven` learns of each block of which the hash proves a part not. */
export const proofsOf = (chainId: string, onUnproven: (block: BlockRef, part: Part) => void): Proofs => {
  const reference = Number(chainId.slice('eip155:'.length));
  const known = new Set<Part>(KNOWN_CHAINS.includes(reference) ? PARTS : []);

  const settle = (part: Part, node: RpcNode, { header }: FetchedBlock, proof: Proof): boolean => {
    if (proof === 'equal') known.add(part);
    if (proof === 'different' && known.has(part))
      throw new ChainNodeError(
        'mismatch',
        `node ${node.number}: the ${part} of block ${header.hash} do not fit its hash`,
      );
    if (proof === 'different' || proof === 'unknown') onUnproven({ height: header.number, hash: header.hash }, part);
    return proof === 'equal' || proof === 'empty';
  };
  /** Whether the node added the last transaction to those of the block. */
  const isAdded = ({ transactions }: FetchedBlock): boolean => {
    const last = transactions.at(-1);
    return POLYGON_CHAINS.includes(reference) && last?.from === NO_ADDRESS && last.to === NO_ADDRESS;
  };

  return {
    header: (node, block) => settle('header', node, block, proofOfHeader(block)),
    transactions: async (node, block) => {
      const { answer, transactions } = block;
      const encoded = await eachEncoded(answer.transactions, encodedTransaction);
      const isLastAdded = isAdded(block);
      const fitsHash = (bytes: Uint8Array | null, index: number) =>
        bytes === null ||
        (isLastAdded && index === transactions.length - 1) ||
        hashOf(bytes) === transactions[index]!.hash;
      const proof = encoded?.every(fitsHash) ? proofOfList(encoded, answer.transactionsRoot, isLastAdded) : 'different';
      return settle('transactions', node, block, proof);
    },
    receipts: async (node, block, receipts) => {
      const encoded = await eachEncoded(receipts, encodedReceipt);
      const proof = proofOfList(encoded, block.answer.receiptsRoot, isAdded(block));
      const isGuess = proof === 'different' && !receipts.every(hasKnownForm);
      return settle('receipts', node, block, isGuess ? 'unknown' : proof);
    },
  };
};

/** `empty` says nothing about the form of the chain, `unknown` says that a part has no known form. */
type Proof = 'equal' | 'empty' | 'different' | 'unknown';

const proofOfHeader = ({ answer, header }: FetchedBlock): Proof => {
  if (orNull(() => headerHash(answer)) === header.hash) return 'equal';
  return hasUnknownParts(answer) ? 'unknown' : 'different';
};

const proofOfList = (encoded: (Uint8Array | null)[] | null, root: unknown, isLastAdded: boolean): Proof => {
  if (encoded === null) return 'different';
  if (encoded.includes(null)) return 'unknown';
  const values = encoded as Uint8Array[];
  if (listRoot(values) === root) return values.length === 0 ? 'empty' : 'equal';
  // The rest is proven, and the added one is not.
  return isLastAdded && listRoot(values.slice(0, -1)) === root ? 'unknown' : 'different';
};

/** Null if an item lacks a part. */
const eachEncoded = async <T>(items: readonly T[], encode: (item: T) => Uint8Array | null) => {
  const encoded: (Uint8Array | null)[] = [];
  for (const item of items) {
    const bytes = orNull(() => ({ of: encode(item) }));
    if (bytes === null) return null;
    encoded.push(bytes.of);
    if (encoded.length % ITEMS_PER_TURN === 0) await yieldToEventLoop();
  }
  return encoded;
};

const orNull = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch (error) {
    if (error instanceof ZodError) return null;
    throw error;
  }
};
