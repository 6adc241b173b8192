import { type Admin, ConfigResourceTypes } from 'kafkajs';
import { updateRetention } from './topics.ts';

type Altered = Parameters<Admin['alterConfigs']>[0];

const setting = (configName: string, configValue: string, configSource: number) => ({
  configName,
  configValue,
  configSource,
  isDefault: configSource !== 1,
  isSensitive: false,
  readOnly: false,
  configSynonyms: [],
});

const adminOf = (settings: Record<string, ReturnType<typeof setting>[]>) => {
  const altered: Altered[] = [];
  const admin = {
    describeConfigs: async () => ({
      resources: Object.entries(settings).map(([resourceName, configEntries]) => ({ resourceName, configEntries })),
    }),
    alterConfigs: async (change: Altered) => void altered.push(change),
  } as unknown as Admin;
  return { admin, altered };
};

test('changes the retention of topics that differ, and keeps their other settings', async () => {
  const { admin, altered } = adminOf({
    'orders.v1': [
      setting('min.insync.replicas', '2', 1),
      setting('retention.ms', '604800000', 5),
      setting('segment.ms', '604800000', 5),
    ],
    'payments.v1': [setting('retention.ms', '2592000000', 1)],
    'orders.v1.dlq': [setting('retention.ms', '604800000', 1)],
  });
  await updateRetention(admin, [
    { topic: 'orders.v1', retentionMs: '2592000000' },
    { topic: 'payments.v1', retentionMs: '2592000000' },
    { topic: 'orders.v1.dlq', retentionMs: '-1' },
  ]);
  const type = ConfigResourceTypes.TOPIC;
  const kept = { name: 'min.insync.replicas', value: '2' };
  expect(altered).toEqual([
    {
      validateOnly: false,
      resources: [
        { type, name: 'orders.v1', configEntries: [kept, { name: 'retention.ms', value: '2592000000' }] },
        { type, name: 'orders.v1.dlq', configEntries: [{ name: 'retention.ms', value: '-1' }] },
      ],
    },
  ]);
});

test('changes nothing when every topic has its retention', async () => {
  const { admin, altered } = adminOf({ 'orders.v1': [setting('retention.ms', '86400000', 5)] });
  await updateRetention(admin, [{ topic: 'orders.v1', retentionMs: '86400000' }]);
  expect(altered).toEqual([]);
});

test('passes on an outage, so that the start is retried', async () => {
  const admin = { describeConfigs: () => Promise.reject(new Error('connection lost')) } as unknown as Admin;
  await expect(updateRetention(admin, [{ topic: 'orders.v1', retentionMs: '1' }])).rejects.toThrow('connection lost');
});
