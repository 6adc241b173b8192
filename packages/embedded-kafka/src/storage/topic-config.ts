import { KafkaError, errorCode } from '../errors.ts';

/** The supported topic settings, by their names in Apache Kafka. -1 means no limit. */
export interface TopicConfig {
  readonly 'retention.ms': number;
  readonly 'retention.bytes': number;
  readonly 'max.message.bytes': number;
}

type ConfigName = keyof TopicConfig;

/** Settings that are accepted with these values only: they describe what the broker does. */
const FIXED: Record<string, string> = {
  'cleanup.policy': 'delete',
  'compression.type': 'producer',
  'message.timestamp.type': 'CreateTime',
  'min.insync.replicas': '1',
};

const MINIMUM: TopicConfig = { 'retention.ms': -1, 'retention.bytes': -1, 'max.message.bytes': 0 };

/** Parses the settings of a new topic. Throws KafkaError(invalidConfig) for a setting or value that is not
 *  supported. */
export const parseTopicConfig = (entries: readonly (readonly [string, string | null])[]): Partial<TopicConfig> => {
  const config: Partial<Record<ConfigName, number>> = {};
  for (const [name, value] of entries) {
    if (name in MINIMUM) {
      const number = /^-?\d{1,15}$/.test(value ?? '') ? Number(value) : NaN;
      if (!(number >= MINIMUM[name as ConfigName])) throw invalid(`${name} must not be ${value}`);
      config[name as ConfigName] = number;
    } else if (FIXED[name] === undefined) throw invalid(`${name} is not supported`);
    else if (FIXED[name] !== value) throw invalid(`${name} must be ${FIXED[name]}`);
  }
  return config;
};

/** All settings of a topic for DescribeConfigs. `own` has those that are not defaults. */
export const describeTopicConfig = (config: TopicConfig, own: Partial<TopicConfig>) => [
  ...Object.entries(config).map(([name, value]) => ({
    name,
    value: String(value),
    isDefault: !(name in own),
    readOnly: false,
  })),
  ...Object.entries(FIXED).map(([name, value]) => ({ name, value, isDefault: true, readOnly: true })),
];

const invalid = (message: string) => new KafkaError(errorCode.invalidConfig, message);
