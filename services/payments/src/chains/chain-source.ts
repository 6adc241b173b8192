/** A block. Its hash has 64 hex digits (Bitcoin), or `0x` and 64 (EVM). */
export interface BlockRef {
  readonly height: number;
  readonly hash: string;
}

/** Money that arrived at a watched address. */
export interface Transfer {
  /** Position in the chain, the same in every block that contains the transaction: Bitcoin `<txid>:<vout>`, EVM
   *  `<txHash>:<position of the log in its receipt>`, `<txHash>:native`, `<txHash>:native<n>` for the n-th call inside
   *  a transaction. */
  readonly id: string;
  readonly txHash: string;
  /** Spelled as in deposit instructions. */
  readonly address: string;
  /** CAIP-19: one of the configured assets of the network. */
  readonly asset: string;
  /** Units of the asset on its chain. */
  readonly units: bigint;
  /** Confirmations before the chain lets anybody spend it: 100 for newly mined bitcoins. */
  readonly minConfirmations?: number;
  /** Bitcoin: outputs that the transaction spends, `<txid>:<vout>`, to find conflicting spends. */
  readonly spends?: readonly string[];
}

export interface Block {
  readonly ref: BlockRef;
  /** Hash of the block before it. */
  readonly parent: string;
  readonly time: Date;
  readonly transfers: readonly Transfer[];
  /** Bitcoin: the transaction of this block that spends an output `<txid>:<vout>`. */
  readonly spent?: (output: string) => string | undefined;
}

/** Addresses to find transfers to, spelled as in deposit instructions. */
export interface Watched {
  readonly size: number;
  /** Those of some addresses that are watched. */
  readonly among: (addresses: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** The transfers to watched addresses. */
export const toWatched = async <T extends { readonly address: string }>(
  transfers: readonly T[],
  watched: Watched,
): Promise<T[]> => {
  const found = await watched.among(transfers.map(({ address }) => address));
  return transfers.filter(({ address }) => found.has(address));
};

/** Reads one network. Its errors are ChainNodeError, if not said otherwise: retry later. */
export interface ChainSource {
  /** Throws WrongChainError if the nodes serve another chain, or other tokens, than configured. */
  readonly verify: () => Promise<void>;
  /** The highest block that every answering node has. */
  readonly tip: () => Promise<BlockRef>;
  /** The block at a height, on which all answering nodes agree; null above the tip of one of them. */
  readonly at: (height: number) => Promise<BlockRef | null>;
  /** Throws ReorganizedError if no node has that block any more. */
  readonly block: (ref: BlockRef, watched: Watched) => Promise<Block>;
  /** Transfers of transactions that no block contains yet. */
  readonly mempool?: (watched: Watched) => Promise<readonly Transfer[]>;
}

/** No node knows the block any more: another one took its place. */
export class ReorganizedError extends Error {
  override readonly name = 'ReorganizedError';
  readonly ref: BlockRef;
  constructor(ref: BlockRef) {
    super(`no node has block ${ref.hash} at height ${ref.height} any more`);
    this.ref = ref;
  }
}

/** The nodes serve another chain than the configured one, or a token is not what the file of assets says. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError';
}

/** Why a node gave no usable answer. `mismatch`: the answer contradicts itself or the question. */
export type NodeFault = 'unreachable' | 'timeout' | 'refused' | 'too_large' | 'malformed' | 'mismatch' | 'disagreement';

/** No node gave a usable answer. The message names nodes by number, never by URL. */
export class ChainNodeError extends Error {
  override readonly name = 'ChainNodeError';
  readonly fault: NodeFault;
  constructor(fault: NodeFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}
