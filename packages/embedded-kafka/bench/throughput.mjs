// Messages per second through kafkajs and the time from send to receipt, against the broker at KAFKA_BROKERS.
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, Partitioners, logLevel } from 'kafkajs';

const [MESSAGES, BATCH, SENDERS, PROBES] = [100_000, 100, 8, 300];
const kafka = new Kafka({
  brokers: (process.env.KAFKA_BROKERS ?? '127.0.0.1:9092').split(','),
  logLevel: logLevel.ERROR,
});
const topic = `bench-${randomUUID()}`;
const admin = kafka.admin();
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
await Promise.all([admin.connect(), producer.connect()]);
await admin.createTopics({ topics: [{ topic, numPartitions: 4 }] });

const perSecond = (startedAt) => Math.round(MESSAGES / ((performance.now() - startedAt) / 1000));

const value = randomBytes(1024);
let sent = 0;
const sendAll = async () => {
  for (; sent < MESSAGES;) {
    sent += BATCH;
    await producer.send({ topic, messages: Array.from({ length: BATCH }, (_, n) => ({ key: String(n), value })) });
  }
};
const producedAt = performance.now();
await Promise.all(Array.from({ length: SENDERS }, sendAll));
console.log(`produced ${perSecond(producedAt)} messages/s of 1 KB in batches of ${BATCH}`);

const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 1000 });
await consumer.connect();
await consumer.subscribe({ topics: [topic], fromBeginning: true });
const probes = new Map();
const times = [];
let received = 0;
let startedAt = 0;
const all = new Promise((done) => {
  void consumer.run({
    eachBatch: async ({ batch }) => {
      startedAt ||= performance.now();
      for (const { key } of batch.messages) {
        const sentAt = probes.get(key.toString());
        if (sentAt) times.push(performance.now() - sentAt);
      }
      received += batch.messages.length;
      if (received >= MESSAGES) done();
    },
  });
});
await all;
console.log(`consumed ${perSecond(startedAt)} messages/s`);

for (let n = 0; n < PROBES; n += 1) {
  const key = `probe-${n}`;
  probes.set(key, performance.now());
  await producer.send({ topic, messages: [{ key, value: 'x' }] });
  await sleep(5);
}
await sleep(200);
times.sort((a, b) => a - b);
const at = (share) => times[Math.floor(share * (times.length - 1))].toFixed(1);
console.log(`send to receipt when idle: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${times.length}`);
await Promise.all([consumer.disconnect(), producer.disconnect()]);
await admin.deleteTopics({ topics: [topic] });
await admin.disconnect();
