import { KafkaError, errorCode } from '../errors.ts';

/** The settings of a topic that this broker honours, under the real broker's names. -1 means without limit. */
export interface TopicConfig {
  readonly 'retention.ms': number;
  readonly 'retention.bytes': number;
  readonly 'max.message.bytes': number;
}

export type ConfigName = keyof TopicConfig;

/** Accepted with these values only, because they say what the broker does anyway. */
const FIXED: Record<string, string> = {
  'cleanup.policy': 'delete',
  'compression.type': 'producer',
  'message.timestamp.type': 'CreateTime',
  'min.insync.replicas': '1',
};

const LOWEST: TopicConfig = { 'retention.ms': -1, 'retention.bytes': -1, 'max.message.bytes': 0 };

/** What a topic's creator asked for, checked. Throws KafkaError(invalidConfig) for a setting that would not be honoured. */
export const parseTopicConfig = (entries: readonly (readonly [string, string | null])[]): Partial<TopicConfig> => {
  const config: Partial<Record<ConfigName, number>> = {};
  for (const [name, value] of entries) {
    if (name in LOWEST) {
      const number = /^-?\d{1,15}$/.test(value ?? '') ? Number(value) : NaN;
      if (!(number >= LOWEST[name as ConfigName])) throw invalid(`${name} cannot be ${value}`);
      config[name as ConfigName] = number;
    } else if (FIXED[name] === undefined) throw invalid(`${name} is not supported`);
    else if (FIXED[name] !== value) throw invalid(`${name} is always ${FIXED[name]}`);
  }
  return config;
};

/** All settings as the protocol describes them. */
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
