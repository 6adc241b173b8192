import type { RequestReader } from '../protocol/request-reader.ts';
import { batchOf, sendBatch } from './batches.ts';
import { type RawClient, TRANSACTION, findCoordinator, retry } from './raw-client.ts';

export interface ProducerId {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly epoch: number;
}

const [INIT_PRODUCER_ID, ADD_PARTITIONS, END] = [22, 24, 26];

export const initProducer = async (client: RawClient, transactionalId: string, timeoutMs = 60_000) => {
  await findCoordinator(client, transactionalId, TRANSACTION);
  return retry(async (): Promise<ProducerId & { error: number }> => {
    const response = await client.request(INIT_PRODUCER_ID, 1, (body) => body.string(transactionalId).int32(timeoutMs));
    response.int32();
    const error = response.int16();
    return { transactionalId, error, producerId: response.int64(), epoch: response.int16() };
  });
};

/** Adds partitions of the topic to the transaction. Resolves to their error codes. */
export const addPartitions = async (
  client: RawClient,
  producer: ProducerId,
  topic: string,
  { partitions = [0], version = 1 } = {},
): Promise<number[]> => {
  const { errors } = await retry(async () => {
    const response = await client.request(ADD_PARTITIONS, version, (body) => {
      body.string(producer.transactionalId).int64(producer.producerId).int16(producer.epoch);
      body.array([topic], (name) => body.string(name).array(partitions, body.int32));
    });
    response.int32();
    const errors = response.array(() => (response.string(), response.array(() => errorOf(response)))).flat();
    return { errors, error: errors[0]! };
  });
  return errors;
};

const errorOf = (response: RequestReader): number => (response.int32(), response.int16());

export const endTransaction = async (
  client: RawClient,
  producer: ProducerId,
  commit: boolean,
  version = 1,
): Promise<number> => {
  const { error } = await retry(async () => {
    const response = await client.request(END, version, (body) =>
      body.string(producer.transactionalId).int64(producer.producerId).int16(producer.epoch).boolean(commit),
    );
    response.int32();
    return { error: response.int16() };
  });
  return error;
};

export const TRANSACTIONAL = 0x10;

/** Sends a transactional batch for partition 0 of the topic. */
export const sendInTransaction = (
  client: RawClient,
  { transactionalId, producerId, epoch }: ProducerId,
  topic: string,
  { sequence = 0, values = ['x'] }: { sequence?: number; values?: readonly string[] } = {},
) =>
  retry(() =>
    sendBatch(
      client,
      topic,
      batchOf(values, { producerId, epoch, sequence, attributes: TRANSACTIONAL, timestamp: Date.now() }),
      { transactionalId },
    ),
  );

/** The end of partition 0 of the topic, by ListOffsets 2. */
export const endOffset = async (
  client: RawClient,
  topic: string,
  { readCommitted = false }: { readCommitted?: boolean } = {},
): Promise<number> => {
  const response = await client.request(2, 2, (body) => {
    body.int32(-1).int8(readCommitted ? 1 : 0);
    body.array([topic], (name) => body.string(name).array([-1], (time) => body.int32(0).int64(time)));
  });
  response.int32();
  const [offsets] = response.array(() => {
    response.string();
    return response.array(() => [response.int32(), response.int16(), response.int64(), response.int64()][3]!);
  });
  return offsets![0]!;
};

/** Retries while Apache Kafka still writes the markers of the previous transaction: kafkajs does not retry that
 *  error. */
export const retryConcurrent = <T>(act: () => Promise<T>): Promise<T> =>
  act().catch((error: { type?: string }) => {
    if (error.type !== 'CONCURRENT_TRANSACTIONS') throw error;
    return retryConcurrent(act);
  });
