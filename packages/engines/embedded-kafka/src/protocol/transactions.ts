import { type ErrorCode, errorCode, errorCodeOf, settle } from '../errors.ts';
import type { ProducerIdentity, TransactionPartition } from '../storage/transaction.ts';
import type { Api, ApiRequest } from './api.ts';

const PRODUCER_FENCED_FROM = 2;

export const addPartitionsToTxn: Api = {
  key: 24,
  name: 'AddPartitionsToTxn',
  min: 0,
  max: 2,
  handle: async (request, { catalogue, transactions }) => {
    const producer = readProducer(request);
    const { reader } = request;
    const topics = reader.array(() => ({ topic: reader.string(), indexes: reader.array(reader.int32) }));
    const known: TransactionPartition[] = [];
    const unknown = new Set<string>();
    for (const { topic, indexes } of topics) {
      for (const index of indexes) {
        const partition = catalogue.partition(topic, index);
        if (partition) known.push({ topicId: partition.topic.id, topic, index });
        else unknown.add(`${topic}-${index}`);
      }
    }
    // One unknown partition refuses the whole request.
    const error =
      unknown.size > 0
        ? errorCode.operationNotAttempted
        : await errorOf(request, transactions.addPartitions(producer, known));
    return (response) => {
      response.int32(0); // throttle time
      response.array(topics, ({ topic, indexes }) => {
        response.string(topic).array(indexes, (index) => {
          response.int32(index).int16(unknown.has(`${topic}-${index}`) ? errorCode.unknownTopicOrPartition : error);
        });
      });
    };
  },
};

export const endTxn: Api = {
  key: 26,
  name: 'EndTxn',
  min: 0,
  max: 2,
  handle: async (request, { transactions }) => {
    const producer = readProducer(request);
    const commit = request.reader.boolean();
    const error = await errorOf(request, transactions.end(producer, commit));
    return (response) => {
      response.int32(0); // throttle time
      response.int16(error);
    };
  },
};

const readProducer = ({ reader }: ApiRequest): ProducerIdentity => ({
  transactionalId: reader.string(),
  producerId: reader.int64(),
  epoch: reader.int16(),
});

/** Version 2 and later have a special error code for fenced producers. */
const errorOf = ({ version }: ApiRequest, result: Promise<void>): Promise<ErrorCode> =>
  result.then(
    () => errorCode.none,
    (refused: unknown) => {
      const error = errorCodeOf(refused, errorCode.coordinatorNotAvailable);
      return error === errorCode.invalidProducerEpoch && version >= PRODUCER_FENCED_FROM
        ? errorCode.producerFenced
        : error;
    },
  );

/** Returns a new producer id. With a transactional id, returns its producer id with an epoch that fences all earlier
 *  producers. */
export const initProducerId: Api = {
  key: 22,
  name: 'InitProducerId',
  min: 0,
  max: 1,
  handle: async ({ reader }, { transactions }) => {
    const transactionalId = reader.nullableString();
    const timeoutMs = reader.int32();
    const init = async () =>
      transactionalId === null
        ? { producerId: await transactions.newProducerId(), epoch: 0 }
        : transactions.initProducer(transactionalId, timeoutMs);
    const none = { producerId: -1, epoch: -1 };
    const { error, result } = await settle(init(), errorCode.coordinatorLoadInProgress, none);
    return (response) => {
      response.int32(0); // throttle time
      response.int16(error).int64(result.producerId).int16(result.epoch);
    };
  },
};
