import { KafkaError, errorCode } from '../errors.ts';

/** The supported topic settings, by their names in Apache Kafka. For retention, -1 means no limit. */
export interface TopicConfig {
  readonly 'retention.ms': number;
  readonly 'retention.bytes': number;
  readonly 'max.message.bytes': number;
  /** How far the timestamp of a record may be behind the clock of the broker. */
  readonly 'message.timestamp.before.max.ms': number;
  /** How far the timestamp of a record may be ahead of the clock of the broker. */
  readonly 'message.timestamp.after.max.ms': number;
  /** Without effect: every batch has one replica, which is in sync. */
  readonly 'min.insync.replicas': number;
  /** Without effect: the logs have no segments. */
  readonly 'segment.ms': number;
  readonly 'segment.bytes': number;
}

type ConfigName = keyof TopicConfig;

/** The name of a setting, and its value. */
export type ConfigEntry = readonly [name: string, value: string | null];

/** Settings that are accepted with these values only: they describe what the broker does. */
const FIXED: Record<string, string> = {
  'cleanup.policy': 'delete',
  'compression.type': 'producer',
  'message.timestamp.type': 'CreateTime',
};

const MAX_LONG = 2n ** 63n - 1n;
/** Stands for `MAX_LONG`, which a number cannot hold. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const MAX_INT = 2 ** 31 - 1;

/** The smallest and the largest value. Source: Apache Kafka, LogConfig.java. */
const RANGES: Record<ConfigName, readonly [min: number, max: number]> = {
  'retention.ms': [-1, NO_LIMIT],
  'retention.bytes': [-1, NO_LIMIT],
  'max.message.bytes': [0, MAX_INT],
  'message.timestamp.before.max.ms': [0, NO_LIMIT],
  'message.timestamp.after.max.ms': [0, NO_LIMIT],
  'min.insync.replicas': [1, MAX_INT],
  'segment.ms': [1, NO_LIMIT],
  'segment.bytes': [1_048_576, MAX_INT],
};

/** Parses the settings of a topic. Throws KafkaError for a setting or value that is not supported, and for a setting
 *  that is given twice. */
export const parseTopicConfig = (entries: readonly ConfigEntry[]): Partial<TopicConfig> => {
  checkDuplicates(entries.map(([name]) => name));
  const config: Partial<Record<ConfigName, number>> = {};
  for (const [name, value] of entries) {
    if (value === null) throw new KafkaError(errorCode.invalidRequest, `${name} must not be null`);
    if (isConfigName(name)) config[name] = parseNumber(name, value);
    else if (!Object.hasOwn(FIXED, name)) throw invalid(`${name} is not supported`);
    else if (FIXED[name] !== value.trim()) throw invalid(`${name} must be ${FIXED[name]}, not ${value}`);
  }
  return config;
};

/** All settings of a topic for DescribeConfigs. `own` has those that are not defaults. */
export const describeTopicConfig = (config: TopicConfig, own: Partial<TopicConfig>) => [
  ...Object.entries(config).map(([name, value]: [string, number]) => ({
    name,
    value: String(value >= NO_LIMIT ? MAX_LONG : value),
    isDefault: !(name in own),
    readOnly: false,
  })),
  ...Object.entries(FIXED).map(([name, value]) => ({ name, value, isDefault: true, readOnly: true })),
];

const isConfigName = (name: string): name is ConfigName => Object.hasOwn(RANGES, name);

const parseNumber = (name: ConfigName, value: string): number => {
  const text = value.trim();
  const number = /^[+-]?\d{1,19}$/.test(text) && BigInt(text.replace('+', '')) <= MAX_LONG ? Number(text) : NaN;
  const [min, max] = RANGES[name];
  if (!(number >= min && (number <= max || max === NO_LIMIT))) throw invalid(`${name} must not be ${value}`);
  return Math.min(number, max);
};

const checkDuplicates = (names: readonly string[]): void => {
  if (new Set(names).size < names.length) throw new KafkaError(errorCode.invalidRequest, 'a setting is given twice');
};

const invalid = (message: string) => new KafkaError(errorCode.invalidConfig, message);
