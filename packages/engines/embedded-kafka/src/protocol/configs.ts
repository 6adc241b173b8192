import { type Broker, NODE_ID } from '../broker.ts';
import { errorCode, type ErrorCode, errorCodeOf, KafkaError, type StorageUnavailable } from '../errors.ts';
import { type ConfigEntry, describeTopicConfig, parseTopicConfig } from '../storage/topic-config.ts';
import type { Api } from './api.ts';

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly isDefault: boolean;
  readonly readOnly: boolean;
}

const TOPIC = 2;
const BROKER = 4;
const SOURCE = { topic: 1, broker: 4, default: 5 };

/** The supported settings of topics and of the broker. */
export const describeConfigs: Api = {
  key: 32,
  name: 'DescribeConfigs',
  min: 0,
  max: 2,
  handle: ({ reader, version }, broker) => {
    const resources = reader.array(() => ({
      type: reader.int8(),
      name: reader.string(),
      names: reader.nullableArray(reader.string),
    }));
    if (version >= 1) reader.boolean(); // include synonyms: there are none
    const described = resources.map(({ type, name, names }) => ({
      type,
      name,
      ...describe(broker, type, name, names),
    }));
    return (response) => {
      response.int32(0); // throttle time
      response.array(described, ({ type, name, error, message, settings }) => {
        response.int16(error).string(message).int8(type).string(name);
        response.array(settings, (setting) => {
          response.string(setting.name).string(setting.value).boolean(setting.readOnly);
          if (version === 0) response.boolean(setting.isDefault);
          else response.int8(setting.isDefault ? SOURCE.default : type === TOPIC ? SOURCE.topic : SOURCE.broker);
          response.boolean(false); // sensitive
          if (version >= 1) response.array([], () => {}); // synonyms
        });
      });
    };
  },
};

/** `names` selects settings; null selects all. */
const describe = (broker: Broker, type: number, name: string, names: readonly string[] | null) => {
  const settings =
    type === TOPIC
      ? topicSettings(broker, name)
      : type === BROKER && name === String(NODE_ID)
        ? brokerSettings(broker)
        : null;
  if (settings) {
    const selected = settings.filter((setting) => names === null || names.includes(setting.name));
    return { error: errorCode.none, message: null, settings: selected };
  }
  const error = type === TOPIC ? errorCode.unknownTopicOrPartition : errorCode.invalidRequest;
  return { error, message: `${type === TOPIC ? 'topic' : 'broker'} ${name} does not exist`, settings: [] };
};

const topicSettings = ({ catalogue, settings }: Broker, name: string): Setting[] | null => {
  const topic = catalogue.topic(name);
  return topic ? describeTopicConfig({ ...settings.topicDefaults, ...topic.config }, topic.config) : null;
};

const brokerSettings = ({ settings: { topicDefaults, ...settings } }: Broker): Setting[] =>
  Object.entries({
    'auto.create.topics.enable': settings.autoCreateTopics,
    'num.partitions': settings.defaultPartitions,
    'message.max.bytes': topicDefaults['max.message.bytes'],
    'log.retention.ms': topicDefaults['retention.ms'],
    'log.retention.bytes': topicDefaults['retention.bytes'],
    'group.min.session.timeout.ms': settings.minSessionTimeoutMs,
    'group.max.session.timeout.ms': settings.maxSessionTimeoutMs,
    'socket.request.max.bytes': settings.maxRequestBytes,
  }).map(([name, value]) => ({ name, value: String(value), isDefault: false, readOnly: true }));

/** Replaces the settings of topics: a setting that is not named returns to its default. */
export const alterConfigs: Api = {
  key: 33,
  name: 'AlterConfigs',
  min: 0,
  max: 1,
  handle: async ({ reader }, broker) => {
    const resources = reader.array(() => ({
      type: reader.int8(),
      name: reader.string(),
      entries: reader.array(() => [reader.string(), reader.nullableString()] as const),
    }));
    const validateOnly = reader.boolean();
    const outcomes: (Pick<Alteration, 'type' | 'name'> & Outcome)[] = [];
    for (const { type, name, entries } of resources)
      outcomes.push({ type, name, ...(await alter(broker, { type, name, entries, validateOnly })) });
    return (response) => {
      response.int32(0); // throttle time
      response.array(outcomes, ({ type, name, error, message }) => {
        response.int16(error).string(message).int8(type).string(name);
      });
    };
  },
};

interface Alteration {
  readonly type: number;
  readonly name: string;
  readonly entries: readonly ConfigEntry[];
  readonly validateOnly: boolean;
}

interface Outcome {
  readonly error: ErrorCode;
  readonly message: string | null;
}

const alter = async ({ topics }: Broker, { type, name, entries, validateOnly }: Alteration): Promise<Outcome> => {
  try {
    if (type !== TOPIC) throw new KafkaError(errorCode.invalidRequest, 'only the settings of topics can be changed');
    const config = parseTopicConfig(entries);
    if (validateOnly) topics.requireTopic(name);
    else await topics.setConfig(name, config);
    return { error: errorCode.none, message: null };
  } catch (error) {
    const code = errorCodeOf(error, errorCode.notController);
    return { error: code, message: (error as KafkaError | StorageUnavailable).message };
  }
};
