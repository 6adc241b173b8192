import { type Api, type Broker, NODE_ID } from './api.ts';
import { type ErrorCode, errorCode, errorCodeOf, KafkaError } from '../errors.ts';
import { LEADER_EPOCH, type Topic } from '../storage/partition.ts';

interface Described {
  readonly name: string;
  readonly error: ErrorCode;
  readonly partitions: number;
}

/** The client did not ask for its authorized operations. */
const NO_AUTHORIZED_OPERATIONS = -2147483648;

/** Describes the broker and its topics. Creates a missing topic if both the request and the settings allow it. */
export const metadata: Api = {
  key: 3,
  name: 'Metadata',
  min: 0,
  max: 8,
  handle: async ({ reader, version }, broker) => {
    const names = reader.nullableArray(reader.string);
    const mayCreate = version >= 4 ? reader.boolean() : true;
    const all = names === null || (version === 0 && names.length === 0);
    const topics = all
      ? broker.catalogue.allTopics().map(describe)
      : await Promise.all([...new Set(names)].map((name) => findOrCreate(broker, name, mayCreate)));
    const { host, port } = broker.address;
    return (response) => {
      if (version >= 3) response.int32(0); // throttle time
      response.array([NODE_ID], (id) => {
        response.int32(id).string(host).int32(port);
        if (version >= 1) response.string(null); // rack
      });
      if (version >= 2) response.string(broker.clusterId);
      if (version >= 1) response.int32(NODE_ID); // controller
      response.array(topics, ({ name, error, partitions }) => {
        response.int16(error).string(name);
        if (version >= 1) response.boolean(false); // internal
        response.array(
          Array.from({ length: partitions }, (_, index) => index),
          (index) => {
            response.int16(errorCode.none).int32(index).int32(NODE_ID);
            if (version >= 7) response.int32(LEADER_EPOCH);
            response.array([NODE_ID], response.int32).array([NODE_ID], response.int32); // replicas, in-sync replicas
            if (version >= 5) response.array([], response.int32); // offline replicas
          },
        );
        if (version >= 8) response.int32(NO_AUTHORIZED_OPERATIONS); // authorized operations
      });
      if (version >= 8) response.int32(NO_AUTHORIZED_OPERATIONS);
    };
  },
};

const describe = ({ name, partitions }: Topic): Described => ({
  name,
  error: errorCode.none,
  partitions: partitions.length,
});

const findOrCreate = async (broker: Broker, name: string, mayCreate: boolean): Promise<Described> => {
  const { catalogue, settings, topics } = broker;
  const topic = catalogue.topic(name);
  if (topic) return describe(topic);
  try {
    topics.checkNewTopic(name, settings.defaultPartitions);
    if (!mayCreate || !settings.autoCreateTopics)
      throw new KafkaError(errorCode.unknownTopicOrPartition, `topic ${name} does not exist`);
    return describe(await topics.create(name, settings.defaultPartitions, {}));
  } catch (error) {
    const created = catalogue.topic(name); // by another client at the same time
    return created
      ? describe(created)
      : { name, error: errorCodeOf(error, errorCode.leaderNotAvailable), partitions: 0 };
  }
};

/** Finds the coordinator of a group or of a transactional id: always the only node. */
export const findCoordinator: Api = {
  key: 10,
  name: 'FindCoordinator',
  min: 0,
  max: 2,
  handle:
    ({ version }, { address }) =>
    (response) => {
      if (version >= 1) response.int32(0); // throttle time
      response.int16(errorCode.none);
      if (version >= 1) response.string(null); // error message
      response.int32(NODE_ID).string(address.host).int32(address.port);
    },
};
