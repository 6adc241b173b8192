import type { Broker } from '../broker.ts';
import { type ErrorCode, KafkaError, type StorageUnavailable, errorCode, errorCodeOf } from '../errors.ts';
import { type ConfigEntry, parseTopicConfig } from '../storage/topic-config.ts';
import type { Api } from './api.ts';

const TOPIC = 2;

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
