import { setTimeout as sleep } from 'node:timers/promises';
import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';

/** Publishes order events to Kafka like the relay, at a rate that order creates cannot reach. */
export const startFeed = async (brokers: string) => {
  const kafka = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const producer = kafka.producer();
  await producer.connect();
  const template = await firstMessage(kafka);
  let count = 0;
  const messageTo = (merchantId: string) => {
    count += 1;
    const suffix = String(count).padStart(26, '0');
    const [id, orderId] = [`evt_${suffix}`, `ord_${suffix}`];
    const { data } = template;
    const resource = { ...data.resource, id: orderId, merchant_id: merchantId };
    const time = new Date().toISOString();
    const message = { ...template, id, time, subject: orderId, orderid: orderId, merchantid: merchantId };
    return { id, key: orderId, value: JSON.stringify({ ...message, data: { ...data, resource } }) };
  };
  return {
    /** Publishes `perSecond` events per second for `forMs`, for the merchants in turn. Resolves with the merchant of
     *  each event id. */
    send: async (merchants: readonly string[], { perSecond, forMs }: { perSecond: number; forMs: number }) => {
      const sent = new Map<string, string>();
      const began = performance.now();
      for (let n = 0; n < (perSecond * forMs) / 1_000; n += 1) {
        const merchantId = merchants[n % merchants.length]!;
        const { id, ...message } = messageTo(merchantId);
        sent.set(id, merchantId);
        await producer.send({ topic: TOPICS.orders.name, messages: [message] });
        await sleep(Math.max(0, began + ((n + 1) * 1_000) / perSecond - performance.now()));
      }
      return sent;
    },
    close: () => producer.disconnect(),
  };
};

const firstMessage = async (kafka: Kafka) => {
  const consumer = kafka.consumer({ groupId: `bench-${Date.now()}` });
  await consumer.connect();
  await consumer.subscribe({ topic: TOPICS.orders.name, fromBeginning: true });
  const text = await new Promise<string>((done) => {
    void consumer.run({
      eachMessage: async ({ message: { value } }) => {
        if (JSON.parse(value!.toString()).type === 'order.created') done(value!.toString());
      },
    });
  });
  await consumer.disconnect();
  return JSON.parse(text);
};
