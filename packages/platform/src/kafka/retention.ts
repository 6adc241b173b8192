import type { Admin, ConfigResourceTypes, KafkaJSError } from 'kafkajs';

const RETENTION = 'retention.ms';

// The enum of kafkajs, which is not a named export for ES modules.
const TOPIC: ConfigResourceTypes.TOPIC = 2;

// `config_source` of a setting that was made for the topic itself. Source: Apache Kafka, DescribeConfigsResponse.
const SET_ON_TOPIC = 1;

/** Sets the retention of existing topics where it differs. Topics keep the setting they have when the broker cannot
 *  change it, or refuses that to this user. */
export const updateRetention = async (
  admin: Admin,
  topics: ReadonlyArray<{ readonly topic: string; readonly retentionMs: string }>,
): Promise<void> => {
  if (topics.length === 0) return;
  const type = TOPIC;
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map(({ topic: name }) => ({ type, name })),
    });
    const outdated = topics.flatMap(({ topic: name, retentionMs }) => {
      const settings = resources.find((resource) => resource.resourceName === name)?.configEntries ?? [];
      if (settings.find(({ configName }) => configName === RETENTION)?.configValue === retentionMs) return [];
      // AlterConfigs removes every setting that it does not list.
      const others = settings.filter(
        ({ configName, configSource }) => Number(configSource) === SET_ON_TOPIC && configName !== RETENTION,
      );
      const kept = others.map(({ configName, configValue }) => ({ name: configName, value: configValue }));
      return [{ type, name, configEntries: [...kept, { name: RETENTION, value: retentionMs }] }];
    });
    if (outdated.length > 0) await admin.alterConfigs({ validateOnly: false, resources: outdated });
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
};

// A broker with ACLs may refuse both requests to the services; brokers before Kafka 0.11 have neither.
const REFUSALS = new Set(['UNSUPPORTED_VERSION', 'CLUSTER_AUTHORIZATION_FAILED', 'TOPIC_AUTHORIZATION_FAILED']);

const isRefusal = (error: unknown): boolean => {
  const { name, type = '' } = error as Partial<KafkaJSError> & { type?: string };
  return name === 'KafkaJSServerDoesNotSupportApiKey' || REFUSALS.has(type);
};
