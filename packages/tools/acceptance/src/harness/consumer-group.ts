import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import { until } from './until.ts';

/** Waits until a consumer group has committed everything that is in the topics now. */
export const waitUntilConsumed = async (groupId: string, brokers: string): Promise<void> => {
  const kafka = new Kafka({ clientId: 'acceptance', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    for (const topic of [TOPICS.orders.name, TOPICS.payments.name]) {
      const topicOffsets = await admin.fetchTopicOffsets(topic);
      await until(`${groupId} to consume ${topic}`, async () => {
        const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
        const committed = new Map(group!.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
        return topicOffsets.every(
          ({ partition, high }) => Number(high) === 0 || (committed.get(partition) ?? -1) >= Number(high),
        );
      });
    }
  } finally {
    await admin.disconnect();
  }
};
