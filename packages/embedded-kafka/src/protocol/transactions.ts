import type { Api, ApiRequest } from '../broker.ts';
import type { TransactionPartition, ProducerIdentity } from '../storage/transaction.ts';
import { type ErrorCode, errorCode, errorCodeOf } from '../errors.ts';

const PRODUCER_FENCED_FROM = 2;

export const addPartitionsToTxn: Api = {
  key: 24,
  name: 'AddPartitionsToTxn',
  min: 0,
  max: 2,
  handle: async (call, { catalogue, transactions }) => {
    const claim = readClaim(call);
    const { reader } = call;
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
    // All of them or none.
    const error =
      unknown.size > 0
        ? errorCode.operationNotAttempted
        : await outcome(call, transactions.addPartitions(claim, known));
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
  handle: async (call, { transactions }) => {
    const claim = readClaim(call);
    const commit = call.reader.boolean();
    const error = await outcome(call, transactions.end(claim, commit));
    return (response) => {
      response.int32(0).int16(error); // after the throttle time
    };
  },
};

const readClaim = ({ reader }: ApiRequest): ProducerIdentity => ({
  transactionalId: reader.string(),
  producerId: reader.int64(),
  epoch: reader.int16(),
});

/** Later versions have a code of their own for a producer that another one has replaced. */
const outcome = ({ version }: ApiRequest, act: Promise<void>): Promise<ErrorCode> =>
  act.then(
    () => errorCode.none,
    (refused: unknown) => {
      const error = errorCodeOf(refused, errorCode.coordinatorNotAvailable);
      return error === errorCode.invalidProducerEpoch && version >= PRODUCER_FENCED_FROM
        ? errorCode.producerFenced
        : error;
    },
  );
