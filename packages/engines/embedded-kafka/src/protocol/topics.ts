import type { Api, Broker } from './api.ts';
import { type ErrorCode, errorCode, errorCodeOf, KafkaError, type Outcome, outcomeOf } from '../errors.ts';
import { parseTopicConfig } from '../storage/topic-config.ts';

interface NamedOutcome extends Outcome {
  readonly name: string;
}

interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  readonly replicas: number;
  readonly assignments: readonly (readonly [index: number, brokers: readonly number[]])[];
  readonly config: readonly (readonly [string, string | null])[];
}

const BROKER_DEFAULT = -1;

export const createTopics: Api = {
  key: 19,
  name: 'CreateTopics',
  min: 0,
  max: 4,
  handle: async ({ reader, version }, broker) => {
    const newTopics = reader.array((): NewTopic => ({
      name: reader.string(),
      partitions: reader.int32(),
      replicas: reader.int16(),
      assignments: reader.array(() => [reader.int32(), reader.array(reader.int32)] as const),
      config: reader.array(() => [reader.string(), reader.nullableString()] as const),
    }));
    reader.int32(); // ignored: timeout
    const validateOnly = version >= 1 && reader.boolean();
    const outcomes = await oneByOne(newTopics, (topic) => create(broker, topic, validateOnly));
    return (response) => {
      if (version >= 2) response.int32(0); // throttle time
      response.array(outcomes, ({ name, error, message }) => {
        response.string(name).int16(error);
        if (version >= 1) response.string(message);
      });
    };
  },
};

const create = async ({ settings, topics }: Broker, topic: NewTopic, validateOnly: boolean): Promise<void> => {
  const { name, replicas, assignments } = topic;
  const config = parseTopicConfig(topic.config);
  checkAssignments(topic);
  if (assignments.length === 0 && replicas !== 1 && replicas !== BROKER_DEFAULT) {
    throw new KafkaError(errorCode.invalidReplicationFactor, `the only broker can store one replica, not ${replicas}`);
  }
  const requested = topic.partitions === BROKER_DEFAULT ? settings.defaultPartitions : topic.partitions;
  const partitions = assignments.length || requested;
  if (validateOnly) topics.checkNewTopic(name, partitions);
  else await topics.create(name, partitions, config);
};

const checkAssignments = ({ assignments }: NewTopic): void => {
  const indexes = new Set(assignments.map(([index]) => index));
  const complete = assignments.every((_, index) => indexes.has(index)) && indexes.size === assignments.length;
  if (!complete || assignments.some(([, brokers]) => brokers.length !== 1)) {
    throw new KafkaError(errorCode.invalidReplicaAssignment, 'each partition must be assigned to the only broker');
  }
};

export const deleteTopics: Api = {
  key: 20,
  name: 'DeleteTopics',
  min: 0,
  max: 3,
  handle: async ({ reader, version }, { topics, requestCleanup }) => {
    const names = reader.array(() => ({ name: reader.string() }));
    reader.int32(); // ignored: timeout
    const outcomes = await oneByOne(names, ({ name }) => topics.delete(name));
    requestCleanup();
    return (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.array(outcomes, ({ name, error }) => response.string(name).int16(error));
    };
  },
};

export const createPartitions: Api = {
  key: 37,
  name: 'CreatePartitions',
  min: 0,
  max: 1,
  handle: async ({ reader }, { topics }) => {
    const growths = reader.array(() => ({
      name: reader.string(),
      total: reader.int32(),
      assignments: reader.nullableArray(() => reader.array(reader.int32)),
    }));
    reader.int32(); // ignored: timeout
    const validateOnly = reader.boolean();
    const outcomes = await oneByOne(growths, async ({ name, total }) => {
      if (validateOnly) topics.checkNewPartitionCount(name, total);
      else await topics.addPartitions(name, total);
    });
    return (response) => {
      response.int32(0); // throttle time
      response.array(outcomes, ({ name, error, message }) => response.string(name).int16(error).string(message));
    };
  },
};

const oneByOne = async <T extends { name: string }>(
  items: readonly T[],
  act: (item: T) => Promise<void>,
): Promise<NamedOutcome[]> => {
  const outcomes: NamedOutcome[] = [];
  for (const item of items)
    outcomes.push({ name: item.name, ...(await outcomeOf(act(item), errorCode.notController)) });
  return outcomes;
};

/** Stands for the end of the log. */
const HIGH_WATERMARK = -1;

/** Moves the start of logs forward. Records before the start cannot be read any more. */
export const deleteRecords: Api = {
  key: 21,
  name: 'DeleteRecords',
  min: 0,
  max: 1,
  handle: async ({ reader }, { catalogue, logWriter, requestCleanup }) => {
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({ index: reader.int32(), before: reader.int64() })),
    }));
    reader.int32(); // ignored: timeout
    const moveStart = async (topic: string, index: number, before: number) => {
      try {
        const partition = catalogue.requirePartition(topic, index);
        const logStart = await logWriter.moveLogStart(partition, before === HIGH_WATERMARK ? partition.logEnd : before);
        return { index, error: errorCode.none as ErrorCode, logStart };
      } catch (error) {
        return { index, error: errorCodeOf(error, errorCode.storageError), logStart: -1 };
      }
    };
    const results = await Promise.all(
      topics.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(partitions.map(({ index, before }) => moveStart(topic, index, before))),
      })),
    );
    requestCleanup();
    return (response) => {
      response.int32(0); // throttle time
      response.array(results, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ index, error, logStart }) => {
          response.int32(index).int64(logStart).int16(error);
        });
      });
    };
  },
};
