import type { Kafka } from 'kafkajs';

/** Reads the ids of committed messages of a topic by partition, until `enough` returns true. */
export const readTopic = async (kafka: Kafka, topic: string, enough: (ids: readonly string[]) => boolean) => {
  const partitions = new Map<number, string[]>();
  const reader = kafka.consumer({ groupId: `reader-${Math.random()}`, maxWaitTimeInMs: 100 });
  await reader.connect();
  await reader.subscribe({ topics: [topic], fromBeginning: true });
  await new Promise<void>((done) => {
    void reader.run({
      eachMessage: async ({ partition, message }) => {
        const ids = partitions.get(partition) ?? [];
        partitions.set(partition, ids);
        ids.push((JSON.parse(message.value!.toString()) as { id: string }).id);
        if (enough([...partitions.values()].flat())) done();
      },
    });
  });
  await reader.disconnect();
  return [...partitions.values()];
};
