import type { Api, Broker } from './api.ts';
import { errorCode, KafkaError, type Outcome, outcomeOf } from '../errors.ts';
import { type ConfigEntry, describeTopicConfig, parseTopicConfig } from '../storage/topic-config.ts';

const TOPIC = 2;
const SOURCE = { topic: 1, default: 5 };

/** The supported settings of topics. */
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
          else response.int8(setting.isDefault ? SOURCE.default : SOURCE.topic);
          response.boolean(false); // sensitive
          if (version >= 1) response.array([], () => {}); // synonyms
        });
      });
    };
  },
};

/** `names` selects settings; null selects all. */
const describe = ({ catalogue, settings }: Broker, type: number, name: string, names: readonly string[] | null) => {
  if (type !== TOPIC)
    return { error: errorCode.invalidRequest, message: 'only topics have settings to read', settings: [] };
  const topic = catalogue.topic(name);
  if (!topic)
    return { error: errorCode.unknownTopicOrPartition, message: `topic ${name} does not exist`, settings: [] };
  const all = describeTopicConfig({ ...settings.topicDefaults, ...topic.config }, topic.config);
  const selected = all.filter((setting) => names === null || names.includes(setting.name));
  return { error: errorCode.none, message: null, settings: selected };
};

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

const alter = ({ topics }: Broker, { type, name, entries, validateOnly }: Alteration): Promise<Outcome> => {
  const change = async (): Promise<void> => {
    if (type !== TOPIC) throw new KafkaError(errorCode.invalidRequest, 'only the settings of topics can be changed');
    const config = parseTopicConfig(entries);
    if (validateOnly) topics.requireTopic(name);
    else await topics.setConfig(name, config);
  };
  return outcomeOf(change(), errorCode.notController);
};
