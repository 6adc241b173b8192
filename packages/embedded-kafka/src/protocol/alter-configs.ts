import type { Broker } from '../broker.ts';
import { type ErrorCode, KafkaError, type StorageUnavailable, errorCode, errorCodeOf } from '../errors.ts';
import {
  type ConfigChange,
  type ConfigOperation,
  changeTopicConfig,
  parseTopicConfig,
  type TopicConfig,
} from '../storage/topic-config.ts';
import type { Api, ResponseBody } from './api.ts';
import type { RequestReader } from './request-reader.ts';

const TOPIC = 2;
const OPERATIONS: readonly ConfigOperation[] = ['set', 'delete', 'append', 'subtract'];

type Change = (config: Partial<TopicConfig>) => Partial<TopicConfig>;

/** Replaces the settings of topics: a setting that is not named returns to its default. */
export const alterConfigs: Api = {
  key: 33,
  name: 'AlterConfigs',
  min: 0,
  max: 1,
  handle: ({ reader }, broker) =>
    alterResources(reader, broker, () => {
      const entries = reader.array(() => [reader.string(), reader.nullableString()] as const);
      return () => parseTopicConfig(entries);
    }),
};

/** Changes the named settings of topics and keeps the others. */
export const incrementalAlterConfigs: Api = {
  key: 44,
  name: 'IncrementalAlterConfigs',
  min: 0,
  max: 0,
  handle: ({ reader }, broker) =>
    alterResources(reader, broker, () => {
      const changes = reader.array(() => ({
        name: reader.string(),
        operation: OPERATIONS[reader.int8()],
        value: reader.nullableString(),
      }));
      return (config) => changeTopicConfig(config, changes.map(requireOperation));
    }),
};

const requireOperation = (change: Omit<ConfigChange, 'operation'> & { operation?: ConfigOperation | undefined }) => {
  const { operation } = change;
  if (!operation) throw new KafkaError(errorCode.invalidRequest, 'the operation is unknown');
  return { ...change, operation };
};

const alterResources = async (
  reader: RequestReader,
  broker: Broker,
  readChange: () => Change,
): Promise<ResponseBody> => {
  const resources = reader.array(() => ({ type: reader.int8(), name: reader.string(), change: readChange() }));
  const validateOnly = reader.boolean();
  const outcomes: (Pick<Alteration, 'type' | 'name'> & Outcome)[] = [];
  for (const { type, name, change } of resources)
    outcomes.push({ type, name, ...(await alter(broker, { type, name, change, validateOnly })) });
  return (response) => {
    response.int32(0); // throttle time
    response.array(outcomes, ({ type, name, error, message }) => {
      response.int16(error).string(message).int8(type).string(name);
    });
  };
};

interface Alteration {
  readonly type: number;
  readonly name: string;
  readonly change: Change;
  readonly validateOnly: boolean;
}

interface Outcome {
  readonly error: ErrorCode;
  readonly message: string | null;
}

const alter = async ({ topics }: Broker, { type, name, change, validateOnly }: Alteration): Promise<Outcome> => {
  try {
    if (type !== TOPIC) throw new KafkaError(errorCode.invalidRequest, 'only the settings of topics can be changed');
    if (validateOnly) topics.checkNewConfig(name, change);
    else await topics.changeConfig(name, change);
    return { error: errorCode.none, message: null };
  } catch (error) {
    const code = errorCodeOf(error, errorCode.notController);
    return { error: code, message: (error as KafkaError | StorageUnavailable).message };
  }
};
