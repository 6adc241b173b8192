import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import { until } from '../harness/until.ts';

/** How far something that follows the creates is behind when the last one was answered. */
export interface Lag {
  /** Orders that it had not seen yet. */
  readonly orders: number;
  /** Until it had seen them all. */
  readonly ms: number;
}

const CAUGHT_UP_WITHIN_MS = 60_000;

/** Asks how many orders of `expected` something has seen, until it has seen all. */
export const lagOf = async (what: string, expected: number, seen: () => Promise<number> | number): Promise<Lag> => {
  const began = performance.now();
  const orders = Math.max(0, expected - (await seen()));
  if (orders === 0) return { orders, ms: 0 };
  await until(what, async () => (await seen()) >= expected, { withinMs: CAUGHT_UP_WITHIN_MS });
  return { orders, ms: performance.now() - began };
};

/** Counts the messages of `orders.v1` by the ends of its partitions, which costs the broker next to nothing. */
export const messageCounter = async (brokers: string) => {
  const admin = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  return {
    count: async (): Promise<number> => {
      const partitions = await admin.fetchTopicOffsets(TOPICS.orders.name);
      return partitions.reduce((sum, { high }) => sum + Number(high), 0);
    },
    close: () => admin.disconnect(),
  };
};
