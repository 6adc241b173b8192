import { KafkaError, errorCode } from '../errors.ts';

/** The state of one transactional id. */
export interface Transaction {
  readonly id: string;
  readonly producerId: number;
  readonly epoch: number;
  readonly timeoutMs: number;
  /** `empty` before the first transaction. Without an ongoing one, the outcome of the last. */
  readonly state: 'empty' | 'ongoing' | 'committed' | 'aborted';
  /** When the ongoing transaction began, in ms since 1970. */
  readonly startedAt: number;
  readonly partitions: readonly TransactionPartition[];
}

/** A partition of a transaction. Stored as JSON. */
export interface TransactionPartition {
  readonly topicId: number;
  readonly topic: string;
  readonly index: number;
}

/** The producer that a request claims to come from. */
export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly epoch: number;
}

/** Epochs have 15 bits. The last one is kept to fence the producer with the epoch before it. */
const LAST_EPOCH = 0x7fff - 1;

/** The state after a producer starts under the transactional id. Its new epoch fences all earlier producers.
 *  `freshId` becomes the producer id if the transactional id is new or has no epochs left. */
export const startProducer = (
  current: Transaction | undefined,
  { id, timeoutMs, freshId }: { id: string; timeoutMs: number; freshId: number },
): Transaction => {
  const [producerId, epoch] =
    current && current.epoch < LAST_EPOCH ? [current.producerId, current.epoch + 1] : [freshId, 0];
  return { id, producerId, epoch, timeoutMs, state: 'empty', startedAt: 0, partitions: [] };
};

/** The state with `partitions` added to the transaction. Begins a transaction if none is ongoing. `now` is in ms since
 *  1970. */
export const withPartitions = (
  current: Transaction,
  partitions: readonly TransactionPartition[],
  now: number,
): Transaction => {
  const ongoing: Transaction =
    current.state === 'ongoing' ? current : { ...current, state: 'ongoing', startedAt: now, partitions: [] };
  const added = partitions.filter((partition) => !includesPartition(ongoing, partition));
  return { ...ongoing, partitions: [...ongoing.partitions, ...added] };
};

export const includesPartition = (
  { partitions }: Transaction,
  { topicId, index }: Omit<TransactionPartition, 'topic'>,
): boolean => partitions.some((partition) => partition.topicId === topicId && partition.index === index);

/** Returns `repeat` if the last transaction already ended in the same way. Throws KafkaError if there is nothing to
 *  end. */
export const checkEnd = ({ id, state }: Transaction, commit: boolean): 'end' | 'repeat' => {
  if (state === 'ongoing') return 'end';
  if (state === (commit ? 'committed' : 'aborted')) return 'repeat';
  throw new KafkaError(errorCode.invalidTransactionState, `${id} has no transaction to ${commit ? 'commit' : 'abort'}`);
};

/** Whether `other` is the same ongoing transaction, perhaps with more partitions. */
export const isSameOngoing = (one: Transaction, other: Transaction | undefined): boolean =>
  other?.state === 'ongoing' &&
  one.state === 'ongoing' &&
  other.producerId === one.producerId &&
  other.epoch === one.epoch &&
  other.startedAt === one.startedAt;

/** Returns a function for the ongoing transactions that are past their timeout. A timeout counts from the first call
 *  that sees the transaction, by the monotonic clock: `startedAt` may be from a clock that was set since. */
export const transactionTimeouts = () => {
  let seen = new Map<string, { readonly transaction: Transaction; readonly sinceMs: number }>();
  return (transactions: Iterable<Transaction>, nowMs: number): Transaction[] => {
    const before = seen;
    seen = new Map();
    for (const transaction of transactions) {
      if (transaction.state !== 'ongoing') continue;
      const known = before.get(transaction.id);
      const isKnown = known !== undefined && isSameOngoing(transaction, known.transaction);
      seen.set(transaction.id, isKnown ? known : { transaction, sinceMs: nowMs });
    }
    return [...seen.values()].flatMap(({ transaction, sinceMs }) =>
      nowMs - sinceMs > transaction.timeoutMs ? [transaction] : [],
    );
  };
};

/** Returns `current` if the producer owns it. Throws KafkaError for a wrong producer id and for a replaced epoch. */
export const checkProducer = (
  current: Transaction | undefined,
  { transactionalId, producerId, epoch }: ProducerIdentity,
) => {
  if (!current || current.producerId !== producerId) {
    throw new KafkaError(
      errorCode.invalidProducerIdMapping,
      `"${transactionalId}" does not belong to producer ${producerId}`,
    );
  }
  if (current.epoch !== epoch) {
    throw new KafkaError(
      errorCode.invalidProducerEpoch,
      `epoch ${epoch} of "${transactionalId}" was replaced by ${current.epoch}`,
    );
  }
  return current;
};
