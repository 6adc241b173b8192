import { startKafka } from '@cpg/embedded-kafka';
import { connectEventStore } from '../store/connect.ts';
import { createKafka, createPublisher, ensureTopics, type Publisher } from '@cpg/platform/kafka';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger } from '@cpg/platform';
import { startRelay } from '../followers/relay.ts';
import { startTallies } from '../testing/jest-tallies.ts';
import { readTopic } from '../testing/jest-topic.ts';
import { until } from '../testing/jest-until.ts';

const log = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
const topic = 'orders.v1';
let tallies: Awaited<ReturnType<typeof startTallies>>;
let kafka: ReturnType<typeof createKafka>;
let kafkaDatabase: Pool;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  tallies = await startTallies();
  const database = await testDatabase();
  const server = await startKafka({ databaseUrl: database.url, port: 0 });
  kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'test', log });
  await ensureTopics(kafka, [topic], { partitions: 1, replication: 1 });
  kafkaDatabase = createPool({ url: database.url, name: 'test', max: 1, log });
  closing.push(server.stop, () => kafkaDatabase.end(), database.drop, tallies.stop);
});

afterAll(async () => {
  for (const close of closing) await close();
});

/** Runs a relay as a separate process would. `hold` runs before it publishes and can pause it, `holdCommit` before it
 *  commits. */
const startRelayProcess = (hold: (ids: readonly string[]) => Promise<void>, holdCommit = async () => {}) => {
  const { databaseUrl, projection, eventStoreUrl } = tallies;
  const pool = createPool({ url: databaseUrl, name: 'relay', max: 2, log });
  const client = connectEventStore(eventStoreUrl);
  const publisher = createPublisher(kafka, { transactionalId: 'tallies.relay' });
  const published: string[] = [];
  const refused: unknown[] = [];
  const holding: Publisher = {
    ...publisher,
    send: async (to, messages) => {
      const ids = messages.map(({ id }) => id);
      await hold(ids);
      await publisher.send(to, messages).catch((error: unknown) => {
        refused.push(error);
        throw error;
      });
      published.push(...ids);
    },
    commit: async () => {
      await holdCommit();
      await publisher.commit().catch((error: unknown) => {
        refused.push(error);
        throw error;
      });
    },
  };
  const { schema, prefixes } = projection;
  const messageOf = async ({ event }: { event?: { id: string; created: Date } }) => {
    const { id, created } = event!;
    return { id, orderid: 'ord_1', time: created.toISOString() };
  };
  const relay = startRelay({
    client,
    pool,
    databaseUrl,
    schema,
    prefixes,
    log,
    publisherFor: () => holding,
    topic,
    messageOf,
  });
  return {
    published,
    refused,
    stop: async () => {
      await relay.stop();
      await publisher.close();
      await client.dispose();
      await pool.end();
    },
  };
};

const isSaved = async () =>
  (await tallies.pool.query("select from tallies.checkpoints where name = 'relay' and commit_position is not null"))
    .rowCount;

const loseLeadership = () =>
  tallies.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'leader tallies.relay' and datname = current_database()",
  );

test('a paused relay is fenced by its successor, and publishes again after it is re-elected', async () => {
  let resume = () => {};
  const paused = new Promise<void>((done) => (resume = done));
  let caught = false;
  const old = startRelayProcess(async () => {
    if (old.published.length === 0 || caught) return;
    caught = true;
    await paused;
  });
  await tallies.tally('a', 1);
  await until(() => old.published.length === 1);
  await until(isSaved);
  await tallies.tally('a', 2);
  await until(() => caught);

  const successor = startRelayProcess(async () => {});
  await loseLeadership();
  await tallies.tally('a', 3);
  await until(() => successor.published.length >= 2);
  resume();
  await until(() => old.refused.length === 1);
  await tallies.tally('a', 4);
  await until(() => successor.published.length === 3);

  await successor.stop();
  await tallies.tally('a', 5);
  await until(() => old.published.length === 2);
  await old.stop();

  const ids = [...old.published.slice(0, 1), ...successor.published, ...old.published.slice(1)];
  const [read] = await readTopic(kafka, topic, (seen) => seen.length === ids.length);
  expect(read).toEqual(ids);
  expect(new Set(read).size).toBe(5);
});

test('a relay publishes again when the broker lost its database and aborted the open transaction', async () => {
  let lost = false;
  const relay = startRelayProcess(
    async () => {},
    async () => {
      if (lost) return;
      lost = true;
      await kafkaDatabase.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'embedded-kafka' and datname = current_database()",
      );
    },
  );
  await tallies.tally('b', 1);
  await until(() => relay.published.length === 2);
  expect(relay.refused).toHaveLength(1);
  const [id, again] = relay.published;
  expect(again).toBe(id);
  const [read] = await readTopic(kafka, topic, (seen) => seen.includes(id!));
  expect(read!.filter((seen) => seen === id)).toHaveLength(1);
  await relay.stop();
});
