import { type DomainMessage, partitionKeyOf } from '@cpg/contracts';
import { CompressionTypes, type Kafka, type Message, Partitioners, type Producer, type Transaction } from 'kafkajs';

export interface Publisher {
  /** Takes over: from here on whoever published under the same id before cannot any more, however long it was held up, and what it left
   *  half done never was. Again after each failure, for its place in the sequence is unknown then. */
  readonly open: () => Promise<void>;
  /** Sends in the given order, as part of the transaction under way; resolves once all replicas have them. Those who read uncommitted see
   *  them from here on. */
  readonly send: (topic: string, messages: readonly DomainMessage[]) => Promise<void>;
  /** Commits what was sent since the last commit, all or none: what a publisher that dies had not committed is as if it never was, and is
   *  to be sent again. `isShutOut` of an error of either says that another has taken over since. */
  readonly commit: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const TRANSACTION_WITHIN_MS = 30_000;
/** Half of what brokers take by default as one batch of a partition: what is larger is refused, however often it is sent. */
const AT_ONCE_BYTES = 512 * 1_024;

/** A transactional producer: the one thing of Kafka's by which a publisher that was replaced without knowing can be shut out. */
export const createPublisher = (kafka: Kafka, { transactionalId }: { transactionalId: string }): Publisher => {
  let producer: Producer | undefined;
  let transaction: Transaction | undefined;
  const close = async () => {
    const old = producer;
    producer = undefined;
    transaction = undefined;
    await old?.disconnect().catch(() => {});
  };
  return {
    open: async () => {
      await close();
      const opening = kafka.producer({
        transactionalId,
        transactionTimeout: TRANSACTION_WITHIN_MS,
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: Partitioners.DefaultPartitioner,
      });
      producer = opening;
      await opening.connect();
      // It is with its first transaction that a producer takes over.
      await (await opening.transaction()).abort();
    },
    send: async (topic, messages) => {
      if (!producer) throw new Error('the publisher is not open');
      transaction ??= await producer.transaction();
      for (const part of inParts(messages.map(encode))) {
        const compression = sizeOf(part) > AT_ONCE_BYTES ? CompressionTypes.GZIP : CompressionTypes.None;
        await transaction.send({ topic, acks: -1, compression, messages: part });
      }
    },
    commit: async () => {
      const ending = transaction;
      transaction = undefined;
      await ending?.commit();
    },
    close,
  };
};

const SHUT_OUT = new Set(['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED']);

/** Whether an error of `send` or `commit` says that another has taken over. */
export const isFenced = (error: unknown): boolean => {
  const { type, cause, originalError } = (error ?? {}) as { type?: string; cause?: unknown; originalError?: unknown };
  if (type !== undefined && SHUT_OUT.has(type)) return true;
  return [cause, originalError].some((inner) => inner !== undefined && inner !== error && isFenced(inner));
};

const sizeOf = (part: readonly Encoded[]): number => part.reduce((bytes, { value }) => bytes + value.length, 0);

/** The same messages in the same order, as many at a time as may go at once. One that is larger than that goes by itself, compressed: of an
 *  order with many payments little is left. */
const inParts = (messages: readonly Encoded[]): Encoded[][] => {
  const parts: Encoded[][] = [];
  let bytes = Infinity;
  for (const message of messages) {
    bytes += message.value.length;
    if (bytes > AT_ONCE_BYTES) {
      parts.push([]);
      bytes = message.value.length;
    }
    parts.at(-1)!.push(message);
  }
  return parts;
};

type Encoded = Message & { readonly value: Buffer };

const encode = (message: DomainMessage): Encoded => ({
  key: partitionKeyOf(message),
  value: Buffer.from(JSON.stringify(message)),
  timestamp: String(Date.parse(message.time)),
  headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
});
