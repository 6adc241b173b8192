import { STORE_FORMAT } from '@cpg/contracts';
import { startKafka } from '@cpg/embedded-kafka';
import { append, readStoreIdentity, readVersion, writeStoreIdentity } from '@cpg/event-sourcing';
import { createServiceLog, createServiceMetrics, createStartGate, createStartupTasks, newId } from '@cpg/platform';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { jsonEvent } from '@eventstore/db-client';
import { z } from 'zod';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { type BackgroundWork, startBackgroundWork } from './background-work.ts';
import { openConnections } from './connections.ts';
import { until } from '../../../event-sourcing/src/testing/jest-until.ts';

const Message = z.object({ id: z.string(), type: z.string() });
let serial = 0;
let kafka: Awaited<ReturnType<typeof startKafka>>;
let dropKafka: () => Promise<void>;
let tallies: Awaited<ReturnType<typeof startTallies>>;

beforeAll(async () => {
  const database = await testDatabase();
  kafka = await startKafka({ databaseUrl: database.url, port: 0 });
  dropKafka = database.drop;
});
afterAll(async () => {
  await kafka.stop();
  await dropKafka();
});
beforeEach(async () => {
  tallies = await startTallies();
});
afterEach(() => tallies.stop());

const isDone = (check: () => Promise<void>): Promise<boolean> =>
  check().then(
    () => true,
    () => false,
  );
/** Records an event, and no row. */
const record = (id: string, n: number) =>
  tallies.options().client.appendToStream(`tally-${id}`, jsonEvent({ type: 'Tallied', data: { n } }));

/** A Kafka client that reaches no broker. */
const unreachable = {
  admin: () => ({ connect: () => Promise.reject(new Error('no broker')), disconnect: async () => {} }),
};

/** Starts the background work of a service of tallies. `stop` ends it with its connections. */
const start = (changes: Partial<BackgroundWork<never>> = {}, { hasKafka = true } = {}) => {
  const name = `tallies-${(serial += 1)}`;
  const { log, outages } = createServiceLog({ name, level: 'silent' });
  const config = {
    ENVIRONMENT: 'sandbox' as const,
    CAZ_DECIMALS: 18,
    EVENTSTORE_URL: tallies.eventStoreUrl,
    DATABASE_URL: tallies.databaseUrl,
    LOG_SHARDS: 1,
    KAFKA_BROKERS: [kafka.brokers],
    KAFKA_PARTITIONS: 1,
    KAFKA_ALLOW_FEWER_REPLICAS: true,
    KAFKA_RETENTION_DAYS: 1,
  };
  const opening = openConnections(config, { name, log, outages });
  const connections = { ...opening, ...(!hasKafka && { kafka: unreachable as never }) };
  const closing: readonly (() => unknown)[] = connections.close;
  const fatal: string[] = [];
  const startupTasks = createStartupTasks(log, ({ message }) => void fatal.push(message));
  const metrics = createServiceMetrics(outages);
  const gate = createStartGate(10);
  const steps: string[] = [];
  const topics = { published: `${name}.v1`, consumed: `${name}-others.v1` };
  const work = startBackgroundWork<never>({ connections, startupTasks, metrics, gate, log }, config, {
    migrations: tallies.migrations,
    projection: tallies.projection,
    publish: {
      topic: topics.published,
      messageOf: async ({ event }) => ({ id: `${event!.streamId}`, orderid: 'o', time: '2026-01-31T12:00:00.000Z' }),
    },
    consume: {
      name: topics.consumed,
      message: Message as never,
      handle: async (messages) => void steps.push(...messages.map(({ id }: { id: string }) => `consumed ${id}`)),
    },
    ...changes,
  });
  return {
    connections,
    metrics,
    topics,
    steps,
    fatal,
    isOpen: () => isDone(gate.waitUntilOpen),
    isReady: () => isDone(startupTasks.check),
    stop: async () => {
      await work.stop();
      for (const close of closing) await close();
    },
  };
};
type Started = ReturnType<typeof start>;

const isPublished = async ({ connections, topics }: Started): Promise<boolean> => {
  const admin = connections.kafka.admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(topics.published).catch(() => []);
  await admin.disconnect();
  return offsets.some(({ high }) => Number(high) > 0);
};
const send = async ({ connections, topics }: Started, id: string) => {
  const producer = connections.kafka.producer();
  await producer.connect();
  await producer.send({
    topic: topics.consumed,
    messages: [{ value: JSON.stringify({ id, type: 'other.happened' }) }],
  });
  await producer.disconnect();
};

test('projects, publishes and consumes, once schema and store are known to be its own', async () => {
  const steps: string[] = [];
  const second = { ...tallies.projection, name: 'second' };
  const running = start({
    moreProjections: [second],
    beforeProjecting: async (events) => void steps.push(`before ${events.length}`),
    startWithoutKafka: () => {
      steps.push('more work');
      return [{ stop: async () => void steps.push('more work ended') }];
    },
  });
  await until(running.isOpen);
  await record('a', 3);
  await until(async () => (await tallies.revisionOf('a')) === 0);
  await until(running.isReady);
  await until(() => isPublished(running));
  await send(running, 'message-1');
  await until(() => running.steps.length > 0);
  expect(running.steps).toEqual(['consumed message-1']);
  const names = async () =>
    (await tallies.pool.query('select name from tallies.checkpoints where commit_position is not null order by name'))
      .rows;
  await until(async () => (await names()).length === 3);
  expect(await names()).toEqual([{ name: 'projection' }, { name: 'relay' }, { name: 'second' }]);
  expect(await running.metrics.metrics()).toContain('subscription_lag_seconds{checkpoint="relay"}');
  await running.stop();
  expect(steps).toEqual(['more work', 'before 1', 'more work ended']);
  expect(running.fatal).toEqual([]);
  // The store has an identity, the schema a stamp, and the tables a version.
  expect(await readStoreIdentity(tallies.options().client)).toMatchObject({ environment: 'sandbox' });
  expect((await tallies.pool.query('select environment from tallies.environment_stamp')).rows).toEqual([
    { environment: 'sandbox' },
  ]);
  expect(await readVersion(tallies.pool, tallies.projection)).toBe(1);
});

test('starts nothing on the store of another environment, and says why', async () => {
  const { client } = tallies.options();
  const at = '2026-01-01T00:00:00.000Z';
  const identity = { storeId: 'sto_1', environment: 'production', format: STORE_FORMAT, at } as const;
  await writeStoreIdentity(client, identity, 'test');
  await record('a', 3);
  const running = start();
  await until(() => running.fatal.length > 0);
  await running.stop();
  expect(running.fatal[0]).toMatch(/^ENVIRONMENT is sandbox, but the event store .* belongs to production/);
  expect([await running.isOpen(), await tallies.rows()]).toEqual([false, []]);
});

test('projects without Kafka, and neither reads nor appends after a stop', async () => {
  const running = start({}, { hasKafka: false });
  await until(running.isOpen);
  const note = (id: string) => {
    const event = { id: newId('event'), event: { type: 'Tallied', data: { n: 1 } }, metadata: {} as never };
    return append(running.connections.client, `tally-${id}`, [event], -1);
  };
  expect(await note('early')).toBe('appended');
  await record('a', 3);
  await until(async () => (await tallies.revisionOf('a')) === 0);
  expect(await running.isReady()).toBe(true);
  await running.stop();
  expect((await tallies.pool.query("select from tallies.checkpoints where name = 'relay'")).rowCount).toBe(0);
  await expect(note('late')).rejects.toMatchObject({ code: 'dependency_unavailable' });
});
