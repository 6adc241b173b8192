import type { DomainMessage } from '@cpg/contracts';
import { wallClockMs } from '../clock/own-clocks.ts';
import { CompressionTypes, type Kafka, type Message, Partitioners, type Producer, type Transaction } from 'kafkajs';

/** A message to publish, by the attributes of which its record is made. The order is its key. */
export type OutgoingMessage = Pick<DomainMessage, 'id' | 'orderid' | 'time'>;

export interface Publisher {
  /** Fences every earlier publisher with the same transactional id: its open transaction is aborted, and it can never
   *  commit again. Call it again after each failure, because the producer's sequence number is unknown then. */
  readonly open: () => Promise<void>;
  /** Sends messages in order, in the current transaction. Resolves once all in-sync replicas have them.
   *  Consumers with `read_uncommitted` see the messages before the commit. */
  readonly send: (topic: string, messages: readonly OutgoingMessage[]) => Promise<void>;
  /** Commits the messages sent since the last commit. Send uncommitted messages again after a crash or an error.
   *  When `send` or `commit` throws an error for which `isFenced` is true, another publisher has taken over. When
   *  `isRefused` is true for one of `send`, Kafka does not take one of the messages. */
  readonly commit: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const TRANSACTION_TIMEOUT_MS = 30_000;
// Before compression. Half of the default `message.max.bytes` of brokers, which reject larger batches.
const MAX_BATCH_BYTES = 512 * 1_024;

/** A transactional producer. Kafka can fence only transactional producers, so a replaced publisher cannot write any
 *  more. */
export const createPublisher = (kafka: Kafka, { transactionalId }: { transactionalId: string }): Publisher => {
  let producer: Producer | undefined;
  let transaction: Transaction | undefined;
  const close = async () => {
    const previous = producer;
    producer = undefined;
    transaction = undefined;
    await previous?.disconnect().catch(() => {});
  };
  return {
    open: async () => {
      await close();
      const opening = kafka.producer({
        transactionalId,
        transactionTimeout: TRANSACTION_TIMEOUT_MS,
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: Partitioners.DefaultPartitioner,
      });
      producer = opening;
      await opening.connect();
      // A producer fences its predecessors when it starts its first transaction.
      await (await opening.transaction()).abort();
    },
    send: async (topic, messages) => {
      if (!producer) throw new Error('the publisher is not open');
      transaction ??= await producer.transaction();
      for (const batch of splitIntoBatches(messages.map(encode))) {
        await transaction.send({ topic, acks: -1, compression: CompressionTypes.GZIP, messages: batch });
      }
    },
    commit: async () => {
      const committing = transaction;
      transaction = undefined;
      await committing?.commit();
    },
    close,
  };
};

const FENCED_ERRORS = new Set(['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED']);

/** Whether an error of `send` or `commit` means that another publisher has taken over. */
export const isFenced = (error: unknown): boolean => hasType(error, FENCED_ERRORS);

const REFUSED_ERRORS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_TIMESTAMP', 'INVALID_RECORD']);

/** Whether an error of `send` means that Kafka refuses one of the messages, however often it is sent. */
export const isRefused = (error: unknown): boolean => hasType(error, REFUSED_ERRORS);

const hasType = (error: unknown, types: ReadonlySet<string>): boolean => {
  const { type, cause, originalError } = (error ?? {}) as { type?: string; cause?: unknown; originalError?: unknown };
  if (type !== undefined && types.has(type)) return true;
  return [cause, originalError].some((inner) => inner !== undefined && inner !== error && hasType(inner, types));
};

/** Splits messages into batches of at most MAX_BATCH_BYTES, in order. A larger message gets a batch of its own: an
 *  order with many payments compresses well. */
const splitIntoBatches = (messages: readonly EncodedMessage[]): EncodedMessage[][] => {
  const batches: EncodedMessage[][] = [];
  let bytes = Infinity;
  for (const message of messages) {
    bytes += message.value.length;
    if (bytes > MAX_BATCH_BYTES) {
      batches.push([]);
      bytes = message.value.length;
    }
    batches.at(-1)!.push(message);
  }
  return batches;
};

type EncodedMessage = Message & { readonly value: Buffer };

const encode = (message: OutgoingMessage): EncodedMessage => ({
  key: message.orderid,
  value: Buffer.from(JSON.stringify(message)),
  // Kafka refuses records from the far future: the clock of the service that recorded the event was wrong.
  timestamp: String(Math.min(Date.parse(message.time), wallClockMs())),
  headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
});
