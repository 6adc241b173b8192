import type { BrokerProcess } from '../broker-process.ts';

export default async (): Promise<void> => {
  await (globalThis as { apacheKafka?: BrokerProcess }).apacheKafka?.remove();
};
