import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import { until } from './until.ts';

/** Waits until a group of consumers is done with all that the topics hold by now. */
export const consumedBy = async (groupId: string, brokers: string): Promise<void> => {
  const kafka = new Kafka({ clientId: 'acceptance', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    for (const topic of [TOPICS.orders.name, TOPICS.payments.name]) {
      const held = await admin.fetchTopicOffsets(topic);
      await until(`${groupId} to consume ${topic}`, async () => {
        const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
        const at = new Map(group!.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
        return held.every(({ partition, high }) => Number(high) === 0 || (at.get(partition) ?? -1) >= Number(high));
      });
    }
  } finally {
    await admin.disconnect();
  }
};
