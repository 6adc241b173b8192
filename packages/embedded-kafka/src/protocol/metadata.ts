import { type Api, type Broker, NODE_ID } from '../broker.ts';
import type { Topic } from '../storage/catalogue.ts';
import { LEADER_EPOCH } from '../storage/catalogue.ts';
import { type ErrorCode, KafkaError, errorCode, errorCodeOf } from '../errors.ts';

interface Described {
  readonly name: string;
  readonly error: ErrorCode;
  readonly partitions: number;
}

const NOT_ASKED_FOR = -2147483648;

/** The one broker and its topics. A topic that is asked for by name is made when it is missing, if client and settings allow. */
export const metadata: Api = {
  key: 3,
  name: 'Metadata',
  min: 0,
  max: 8,
  handle: async ({ reader, version }, broker) => {
    const names = reader.nullableArray(reader.string);
    const mayCreate = version >= 4 ? reader.boolean() : true;
    const everything = names === null || (version === 0 && names.length === 0);
    const topics = everything
      ? broker.catalogue.allTopics().map(described)
      : await Promise.all([...new Set(names)].map((name) => find(broker, name, mayCreate)));
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
            response.array([NODE_ID], response.int32).array([NODE_ID], response.int32); // replicas, in sync
            if (version >= 5) response.array([], response.int32); // offline
          },
        );
        if (version >= 8) response.int32(NOT_ASKED_FOR); // authorized operations
      });
      if (version >= 8) response.int32(NOT_ASKED_FOR);
    };
  },
};

const described = ({ name, partitions }: Topic): Described => ({
  name,
  error: errorCode.none,
  partitions: partitions.length,
});

const find = async (broker: Broker, name: string, mayCreate: boolean): Promise<Described> => {
  const { catalogue, settings, writer } = broker;
  const topic = catalogue.topic(name);
  if (topic) return described(topic);
  try {
    catalogue.checkNewTopic(name, settings.defaultPartitions);
    if (!mayCreate || !settings.autoCreateTopics)
      throw new KafkaError(errorCode.unknownTopicOrPartition, `there is no ${name}`);
    return described(await catalogue.createTopic(writer, name, settings.defaultPartitions, {}));
  } catch (error) {
    const made = catalogue.topic(name); // by another client, meanwhile
    return made ? described(made) : { name, error: errorCodeOf(error, errorCode.leaderNotAvailable), partitions: 0 };
  }
};
