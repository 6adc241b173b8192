import { KafkaError, errorCode } from '../errors.ts';

/** What the coordinator knows of one transactional id. */
export interface Transaction {
  readonly id: string;
  readonly producerId: number;
  readonly epoch: number;
  readonly timeoutMs: number;
  /** `empty` before the first transaction, then what became of the last one. */
  readonly state: 'empty' | 'ongoing' | 'committed' | 'aborted';
  /** Of the ongoing one, in ms since 1970. */
  readonly startedAt: number;
  readonly partitions: readonly TransactionPartition[];
}

export interface TransactionPartition {
  readonly topicId: number;
  readonly topic: string;
  readonly index: number;
}

/** Whom a request says it comes from. */
export interface ProducerIdentity {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly epoch: number;
}

/** The epoch has 16 bits, and one more is needed to fence the last producer. */
const LAST_EPOCH = 0x7fff - 1;

/** The state for a producer that starts: every earlier one is of an older epoch. `freshId` is for an id that is new or has no epochs left. */
export const startProducer = (
  current: Transaction | undefined,
  { id, timeoutMs, freshId }: { id: string; timeoutMs: number; freshId: number },
): Transaction => {
  const [producerId, epoch] =
    current && current.epoch < LAST_EPOCH ? [current.producerId, current.epoch + 1] : [freshId, 0];
  return { id, producerId, epoch, timeoutMs, state: 'empty', startedAt: 0, partitions: [] };
};

/** The state once `partitions` take part: the first ones begin the transaction. */
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

/** What ending it means: `repeat` when it was ended like this before. Throws KafkaError where there is nothing to end. */
export const checkEnd = ({ id, state }: Transaction, commit: boolean): 'end' | 'repeat' => {
  if (state === 'ongoing') return 'end';
  if (state === (commit ? 'committed' : 'aborted')) return 'repeat';
  throw new KafkaError(errorCode.invalidTransactionState, `${id} has no transaction to ${commit ? 'commit' : 'abort'}`);
};

export const hasTimedOut = ({ state, startedAt, timeoutMs }: Transaction, now: number): boolean =>
  state === 'ongoing' && now > startedAt + timeoutMs;

/** The transaction of the one who claims to run it. Throws KafkaError for who never did, or was replaced by a newer epoch. */
export const checkProducer = (
  current: Transaction | undefined,
  { transactionalId, producerId, epoch }: ProducerIdentity,
) => {
  if (!current || current.producerId !== producerId) {
    throw new KafkaError(
      errorCode.invalidProducerIdMapping,
      `producer ${producerId} has no transactional id "${transactionalId}"`,
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
