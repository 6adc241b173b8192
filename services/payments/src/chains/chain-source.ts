import { createHash } from 'node:crypto';

/** A block. Its hash has 64 hex digits (Bitcoin), or `0x` and 64 (EVM). */
export interface BlockRef {
  readonly height: number;
  readonly hash: string;
}

/** Money that arrived at a watched address. */
export interface Transfer {
  /** Identifies the transfer. It does not name the block, so it stays the same after a reorganization. Bitcoin:
   *  `<txid>:<vout>`. EVM: `<txHash>:<position of the log in its receipt>` for tokens, `<txHash>:native` for coins, and
   *  `<txHash>:native<n>` for the n-th call inside a transaction that pays coins. See also `correctedId`. */
  readonly id: string;
  readonly txHash: string;
  /** Spelled as in deposit instructions. */
  readonly address: string;
  /** The address that sent it, spelled likewise. Absent where the chain does not show one. */
  readonly sender?: string;
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
  /** Numbers of the nodes that showed these same transfers. */
  readonly nodes: readonly number[];
  /** Whether the hash of the block was checked against all its transfers. Then no node can have left out or changed
   *  one. This never covers calls inside transactions: no hash contains them. */
  readonly isProven: boolean;
  /** Whether all calls inside its transactions that pay coins of the chain were found. True where a chain has no such
   *  calls; false where no node has traces. */
  readonly isTraced: boolean;
}

/** Whether a transfer is a call inside a transaction. No hash proves such a call, and only nodes with traces show
 *  it. */
export const isInsideCall = ({ id }: Pick<Transfer, 'id'>): boolean => /:native\d+(:|$)/.test(id);

const CORRECTED = ':corrected:';

/** The id of a transfer that an earlier reading showed with another amount, asset or address. The payment of the
 *  earlier reading keeps its id and amount; the corrected transfer becomes another payment. The same correction always
 *  has the same id. */
export const correctedId = ({ id, address, asset, units }: Transfer): string =>
  `${id}${CORRECTED}${createHash('sha256').update(`${address} ${asset} ${units}`).digest('hex').slice(0, 16)}`;

export const isCorrected = ({ id }: Pick<Transfer, 'id'>): boolean => id.includes(CORRECTED);

/** Addresses to find transfers to, spelled as in deposit instructions. */
export interface Watched {
  /** About how many. */
  readonly size: number;
  /** Which of these addresses are watched. */
  readonly watchedAmong: (addresses: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** The transfers to watched addresses. */
export const onlyToWatched = async <T extends { readonly address: string }>(
  transfers: readonly T[],
  watched: Watched,
): Promise<T[]> => {
  const found = await watched.watchedAmong(transfers.map(({ address }) => address));
  return transfers.filter(({ address }) => found.has(address));
};

/** The newest block on which the nodes agree. */
export interface ChainTip extends BlockRef {
  /** Whether no node in use shows a block above it. */
  readonly isNewest: boolean;
  /** Why the chain is not current, in a sentence; null while it is. Undefined until enough blocks were seen to know. */
  readonly stalled: string | null | undefined;
}

/** The last view of a node. */
export interface NodeView extends BlockRef {
  readonly number: number;
  /** The time of the block. */
  readonly time: Date;
  readonly seenAt: Date;
  /** False while its newest block is old and another node has a current one. */
  readonly isUsed: boolean;
}

/** Reads one network. Its errors are ChainNodeError, if not said otherwise: retry later. */
export interface ChainSource {
  /** Throws WrongChainError if the nodes serve another chain, or other tokens, than configured. */
  readonly verify: () => Promise<void>;
  /** The highest block that every node in use has. Nodes whose newest block is old are not in use while another one
   *  is current. */
  readonly tip: () => Promise<ChainTip>;
  /** By number. Nodes that never answered are absent. */
  readonly nodes?: () => readonly NodeView[];
  /** The block at a height, on which all nodes in use agree; null above the tip of one of them. */
  readonly at: (height: number) => Promise<BlockRef | null>;
  /** Asks nodes other than `not` first. Throws ReorganizedError if no node has that block any more. */
  readonly block: (ref: BlockRef, watched: Watched, options?: { readonly not?: readonly number[] }) => Promise<Block>;
  /** The coins of the chain that addresses have after a block; null if no node knows that any more. */
  readonly balances?: (at: BlockRef, addresses: readonly string[]) => Promise<ReadonlyMap<string, bigint> | null>;
  /** Whether a block can never leave the chain, by what the nodes say of themselves. Absent where only depth counts. */
  readonly isFinal?: (ref: BlockRef) => Promise<boolean>;
  /** Transfers of transactions that no block contains yet. */
  readonly mempool?: (watched: Watched) => Promise<readonly Transfer[]>;
  /** Whether a transaction in a block spends coins of one of these addresses: then their owner sent it, for example as
   *  a refund. Absent where transfers have a `sender`. */
  readonly spendsFrom?: (transaction: Spending, addresses: readonly string[]) => Promise<boolean>;
}

/** A transaction in a block, and the outputs `<txid>:<vout>` that it spends. */
interface Spending {
  readonly txHash: string;
  readonly spends: readonly string[];
  readonly block: BlockRef;
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

/** Why a node gave no usable answer, or is not used.
 *  - `busy`: it asks to repeat the call later. `refused`: it answers with an error.
 *  - `too_large`: the answer exceeds the size limit. `malformed`: it is not what the protocol describes.
 *  - `mismatch`: the answer contradicts itself or the question. `disagreement`: it contradicts other nodes.
 *  - `wrong_chain`: it serves another chain. `stale`: its newest block is old. */
export type NodeFault =
  | 'unreachable'
  | 'timeout'
  | 'busy'
  | 'refused'
  | 'too_large'
  | 'malformed'
  | 'mismatch'
  | 'disagreement'
  | 'wrong_chain'
  | 'stale';

/** No node gave a usable answer. The message names nodes by number, never by URL. */
export class ChainNodeError extends Error {
  override readonly name = 'ChainNodeError';
  readonly fault: NodeFault;
  /** How long a busy node asks to wait; null if it does not say. */
  readonly retryAfterMs: number | null;
  constructor(
    fault: NodeFault,
    message: string,
    options: ErrorOptions & { readonly retryAfterMs?: number | null } = {},
  ) {
    super(message, options);
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
