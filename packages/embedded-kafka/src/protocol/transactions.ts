import type { Api, Call } from '../broker.ts';
import type { PartitionName, ProducerClaim } from '../storage/transaction.ts';
import { type ErrorCode, code, codeOf } from './errors.ts';

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
    const known: PartitionName[] = [];
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
      unknown.size > 0 ? code.operationNotAttempted : await outcome(call, transactions.addPartitions(claim, known));
    return (response) => {
      response.int32(0); // throttle time
      response.array(topics, ({ topic, indexes }) => {
        response.string(topic).array(indexes, (index) => {
          response.int32(index).int16(unknown.has(`${topic}-${index}`) ? code.unknownTopicOrPartition : error);
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

const readClaim = ({ reader }: Call): ProducerClaim => ({
  transactionalId: reader.string(),
  producerId: reader.int64(),
  epoch: reader.int16(),
});

/** Later versions have a code of their own for a producer that another one has replaced. */
const outcome = ({ version }: Call, act: Promise<void>): Promise<ErrorCode> =>
  act.then(
    () => code.none,
    (refused: unknown) => {
      const error = codeOf(refused, code.coordinatorNotAvailable);
      return error === code.invalidProducerEpoch && version >= PRODUCER_FENCED_FROM ? code.producerFenced : error;
    },
  );
