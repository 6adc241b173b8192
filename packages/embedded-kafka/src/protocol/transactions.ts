import type { Api, Call } from '../broker.ts';
import type { CommittedOffset } from '../storage/offsets.ts';
import type { PartitionName, ProducerClaim } from '../storage/transaction.ts';
import { type ErrorCode, code, codeOf } from './errors.ts';
import { offsetFault } from './offsets.ts';

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

export const addOffsetsToTxn: Api = {
  key: 25,
  name: 'AddOffsetsToTxn',
  min: 0,
  max: 2,
  handle: async (call, { transactions }) => {
    const claim = readClaim(call);
    const groupId = call.reader.string();
    const error = await outcome(call, transactions.addGroup(claim, groupId));
    return (response) => {
      response.int32(0).int16(error); // after the throttle time
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

const GROUP_MEMBER_FROM = 3;

/** Offsets that count once the transaction is committed. */
export const txnOffsetCommit: Api = {
  key: 28,
  name: 'TxnOffsetCommit',
  min: 0,
  max: 3,
  flexibleFrom: 3,
  handle: async ({ reader, version }, { catalogue, groups, transactions }) => {
    const transactionalId = reader.string();
    const groupId = reader.string();
    const claim = { transactionalId, producerId: reader.int64(), epoch: reader.int16() };
    const member =
      version >= GROUP_MEMBER_FROM
        ? { generation: reader.int32(), memberId: reader.string(), instanceId: reader.nullableString() }
        : null;
    const topics = reader.array(() => {
      const topic = reader.string();
      const partitions = reader.array((): CommittedOffset => {
        const [partition, offset] = [reader.int32(), reader.int64()];
        const leaderEpoch = version >= 2 ? reader.int32() : -1;
        const metadata = Buffer.from(reader.nullableString() ?? '');
        reader.tags();
        return { topic, partition, offset, leaderEpoch, metadata };
      });
      reader.tags();
      return { topic, partitions };
    });
    const faultOf = (offset: CommittedOffset) =>
      offsetFault(offset, catalogue.partition(offset.topic, offset.partition) !== undefined);
    const offsets = topics.flatMap(({ partitions }) => partitions).filter((offset) => faultOf(offset) === code.none);
    const commit = async () => {
      if (member && member.generation >= 0) groups.checkMember(groupId, member);
      await transactions.commitOffsets(claim, groupId, offsets);
    };
    const error = await commit().then(
      (): ErrorCode => code.none,
      (refused: unknown) => codeOf(refused, code.coordinatorNotAvailable),
    );
    return (response) => {
      response.int32(0); // throttle time
      response.array(topics, ({ topic, partitions }) => {
        response.string(topic).array(partitions, (offset) => {
          const fault = faultOf(offset);
          response
            .int32(offset.partition)
            .int16(fault === code.none ? error : fault)
            .tags();
        });
        response.tags();
      });
      response.tags();
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
