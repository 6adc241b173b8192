import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@cpg/embedded-kafka';
import { append, linkEvents, lastEvent, type LogPosition, readStoreIdentity, AnyEvent } from '@cpg/event-sourcing';
import { createKafka, ensureTopics } from '@cpg/platform/kafka';
import { createPool, stampSchemas } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger, newContext, newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { identifyStore } from '../service/own-store.ts';
import { reconcile, type ReconcileOptions } from './reconcile.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const GENESIS = 'not-checked';

let tallies: Awaited<ReturnType<typeof startTallies>>;
let kafka: ReturnType<typeof createKafka>;
let client: EventStoreDBClient;
let folder: string;
let serial = 0;
let topic: string;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const database = await testDatabase();
  const server = await startKafka({ databaseUrl: database.url, port: 0 });
  kafka = createKafka({ KAFKA_BROKERS: [server.brokers] }, { clientId: 'test', log });
  closing.push(server.stop, database.drop);
});
afterAll(async () => {
  for (const close of closing) await close();
});

beforeEach(async () => {
  tallies = await startTallies();
  ({ client } = tallies.options());
  folder = mkdtempSync(join(tmpdir(), 'reconcile-'));
  topic = `tallies-${(serial += 1)}.v1`;
  await tallies.pool.query(`
    create schema webhooks;
    create table webhooks.events (id text, order_id text, type text, is_test boolean, body text);
    create table webhooks.deliveries (id text, event_id text)`);
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await tallies.stop();
});

/** Records further numbers of an order in the event store, and no row. Resolves to the ids of the events. */
const record = async (order: string, numbers: readonly number[]): Promise<string[]> => {
  const stream = `tally-${order}`;
  const last = await lastEvent(client, stream, AnyEvent);
  const events = linkEvents(
    numbers.map((n) => ({ type: 'Tallied', data: { n, at: '2026-01-31T12:00:00.000Z' } })),
    stream,
    { revision: last?.revision ?? -1, hash: GENESIS },
    newContext('service:test'),
    { causationId: 'cause' },
  );
  expect(await append(client, stream, events, last?.revision ?? -1)).toBe('appended');
  return events.map(({ id }) => id);
};
const insertRow = (id: string, n: number, revision: number) =>
  tallies.pool.query('insert into tallies.tallies (id, n, revision) values ($1, $2, $3)', [id, n, revision]);

const publish = async (messages: readonly (readonly [id: string, order: string] | string)[]) => {
  await ensureTopics(kafka, [topic], { partitions: 1, replication: 1 });
  const producer = kafka.producer();
  await producer.connect();
  const value = (message: (typeof messages)[number]) =>
    typeof message === 'string'
      ? message
      : JSON.stringify({ id: message[0], orderid: message[1], subject: message[1] });
  await producer.send({ topic, messages: messages.map((message) => ({ value: value(message) })) });
  await producer.disconnect();
};
const deliver = async (
  delivery: string,
  {
    event,
    order,
    type = 'order:paid',
    isTest = false,
    subject = order,
  }: {
    event: string;
    order: string;
    type?: string;
    isTest?: boolean;
    subject?: string;
  },
) => {
  const body = JSON.stringify({ data: { id: subject } });
  await tallies.pool.query('insert into webhooks.events values ($1, $2, $3, $4, $5)', [
    event,
    order,
    type,
    isTest,
    body,
  ]);
  await tallies.pool.query('insert into webhooks.deliveries values ($1, $2)', [delivery, event]);
};
const saveCheckpoint = (name: string, storeId: string, position: LogPosition) =>
  tallies.pool.query(
    `insert into tallies.checkpoints (name, epoch, commit_position, prepare_position, store_id, event_id, event_stream)
     values ($1, 7, $2, $3, $4, $5, $6)`,
    [name, position.commit, position.prepare, storeId, position.event?.id, position.event?.stream],
  );
const checkpoints = async () =>
  (
    await tallies.pool.query(
      'select name, epoch::int, commit_position::text as commit, store_id from tallies.checkpoints order by name',
    )
  ).rows;
const commitOf = async (order: string): Promise<string> => {
  let commit = '';
  for await (const { event } of client.readAll())
    if (event?.streamId === `tally-${order}`) commit = String(event.position.commit);
  return commit;
};

/** Runs the command. Resolves to its lines, with the result as the last of them. */
const run = async (apply: boolean, changes: Partial<ReconcileOptions> = {}): Promise<string[]> => {
  const lines: string[] = [];
  const agrees = await reconcile({
    ...tallies.options(),
    pool: tallies.pool,
    kafka,
    moreProjections: [],
    published: { topic, objectType: 'order' },
    folder,
    apply,
    print: (line) => void lines.push(line),
    ...changes,
  });
  return [...lines, String(agrees)];
};
const identify = async (): Promise<string> =>
  (await identifyStore({ client, environment: 'sandbox', name: 'test' })).storeId;
/** A position beyond the end of the log, as a newer store had it. */
const BEYOND = { commit: '99999999', prepare: '99999999', event: { id: 'e', stream: 'tally-lost' } };
const listed = () =>
  readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; where: string; id: string }),
  );

/** A store from a backup: it has orders `kept`, `behind` and `new`, and lacks `lost` and the last events of `older`. */
const restoreBackup = async () => {
  const storeId = await identify();
  const [first, second] = await record('kept', [1, 2]);
  const [older] = await record('older', [1]);
  await record('behind', [1, 2]);
  await record('new', [1]);
  await record('erased', [1]);
  await client.tombstoneStream('tally-erased');
  await insertRow('kept', 2, 1);
  await insertRow('older', 4, 3);
  await insertRow('lost', 1, 0);
  await insertRow('behind', 1, 0);
  await tallies.pool.query(`insert into tallies.tallies (id, n, revision, deleted) values ('erased', 0, 0, true)`);
  await saveCheckpoint('relay', storeId, BEYOND);
  await saveCheckpoint('projection', storeId, BEYOND);
  return { storeId, first: first!, second: second!, older: older! };
};

test('lists what the event store lacks, and changes nothing', async () => {
  const { storeId, first, older } = await restoreBackup();
  const [goneMessage, goneEvent] = [newId('event'), newId('event')];
  await publish([
    [first, 'kept'],
    [older, 'older'],
    [goneMessage, 'lost'],
    [newId('event'), 'erased'],
    'no JSON',
    '{"id":1}',
  ]);
  await deliver('dlv_1', { event: first, order: 'kept' });
  await deliver('dlv_2', { event: goneEvent, order: 'lost' });
  await deliver('dlv_3', { event: newId('event'), order: 'unknown', subject: 'erased' });
  await deliver('dlv_4', { event: newId('event'), order: 'lost', type: 'payment:applied' });
  await deliver('dlv_5', { event: newId('event'), order: 'lost', isTest: true });
  const before = await checkpoints();

  const lines = await run(false);
  const [file] = readdirSync(folder);
  expect(lines).toEqual([
    `event store: ${storeId} (sandbox)`,
    expect.stringMatching(/^the event store at EVENTSTORE_URL ends before checkpoint tallies\.projection .*backup$/),
    expect.stringMatching(/^the event store at EVENTSTORE_URL ends before checkpoint tallies\.relay .*backup$/),
    'tallies.tallies: 2 without events in the event store: lost, older',
    'webhooks.deliveries: 1 without events in the event store: dlv_2',
    `${topic}: 1 without events in the event store: ${goneMessage}`,
    'tallies.tallies: 2 rows are missing or older than the event store',
    `listed in ${join(folder, file!)}`,
    'nothing was changed: run it again with --apply to follow this event store',
    'false',
  ]);
  expect(listed()).toEqual([
    { kind: 'row', where: 'tallies.tallies', id: 'lost', content: expect.objectContaining({ n: 1, revision: 0 }) },
    { kind: 'row', where: 'tallies.tallies', id: 'older', content: expect.objectContaining({ n: 4, revision: 3 }) },
    {
      kind: 'delivery',
      where: 'webhooks.deliveries',
      id: 'dlv_2',
      content: {
        delivery: { id: 'dlv_2', event_id: goneEvent },
        event: expect.objectContaining({ id: goneEvent, order_id: 'lost' }),
      },
    },
    {
      kind: 'message',
      where: topic,
      id: goneMessage,
      content: { partition: 0, offset: '2', message: { id: goneMessage, orderid: 'lost', subject: 'lost' } },
    },
  ]);
  expect(await checkpoints()).toEqual(before);
  expect((await tallies.rows()).map(({ id }) => id)).toEqual(['behind', 'erased', 'kept', 'lost', 'older']);
});

test('follows the event store: rows first, then checkpoints at the last published event', async () => {
  const { storeId, first, second } = await restoreBackup();
  await publish([
    [first, 'kept'],
    [second, 'kept'],
  ]);
  const steps: string[] = [];
  const projection = { ...tallies.projection, keepRows: async () => void steps.push('rows kept') };
  const lines = await run(true, { projection, print: (line) => void steps.push(line) });
  expect(lines).toEqual(['true']);
  const commit = await commitOf('kept');
  expect(steps.slice(-4)).toEqual([
    'rows kept',
    'tallies.tallies rebuilt',
    `checkpoint tallies.projection set back to the start`,
    `checkpoint tallies.relay set back to position ${commit}`,
  ]);
  expect(await tallies.rows()).toMatchObject([
    { id: 'behind', n: 2, revision: 1 },
    { id: 'erased', deleted: true },
    { id: 'kept', n: 2, revision: 1 },
    { id: 'new', n: 1, revision: 0 },
    { id: 'older', n: 1, revision: 0 },
  ]);
  expect(await checkpoints()).toEqual([
    { name: 'projection', epoch: 8, commit: null, store_id: storeId },
    { name: 'relay', epoch: 8, commit, store_id: storeId },
  ]);
  expect((await run(false)).slice(-2)).toEqual([`schema tallies and ${topic} agree with the event store`, 'true']);
  expect(readdirSync(folder)).toHaveLength(1);
});

test('rebuilds every read model of the service, and moves only checkpoints that do not know the store', async () => {
  await restoreBackup();
  const names: string[] = [];
  const second = {
    ...tallies.projection,
    name: 'second',
    keepRows: async () => void names.push('second kept'),
  };
  await tallies.pool.query(
    `update tallies.checkpoints set commit_position = null, prepare_position = null where name = 'relay'`,
  );
  const lines = await run(true, { moreProjections: [second] });
  expect(names).toEqual(['second kept']);
  expect(lines.filter((line) => line.endsWith('rebuilt'))).toHaveLength(2);
  expect(lines.filter((line) => line.startsWith('checkpoint'))).toEqual([
    'checkpoint tallies.projection set back to the start',
  ]);
  expect((await checkpoints()).map(({ epoch }) => epoch as number)).toEqual([8, 7]);
});

test('each shard of the relay goes on after the last event that it published', async () => {
  const storeId = await identify();
  // The shards of these orders differ.
  const orders = ['a', 'b', 'c', 'd'];
  const ids = new Map<string, string[]>();
  for (const order of orders) ids.set(order, await record(order, [1, 2]));
  for (const order of orders) await insertRow(order, 2, 1);
  for (const shard of [1, 2]) await saveCheckpoint(`relay-${shard}-of-2`, storeId, BEYOND);
  await publish(orders.map((order) => [ids.get(order)![0]!, order] as const));
  await run(true);
  const set = (await checkpoints()).map(({ name, commit }) => [name, commit] as const);
  const positions = new Map(set as [string, string][]);
  expect([...positions.keys()]).toEqual(['relay-1-of-2', 'relay-2-of-2']);
  const firsts: string[] = [];
  for await (const { event } of client.readAll())
    if (event?.streamId.startsWith('tally-') && event.revision === 0n) firsts.push(String(event.position.commit));
  // The newest of all belongs to one shard, and the other one keeps an earlier one.
  expect(new Set(positions.values()).size).toBe(2);
  for (const commit of positions.values()) expect(firsts).toContain(commit);
  expect([...positions.values()]).toContain(firsts.at(-1));
});

test('rows that only lack events need a rebuild, and nothing is lost', async () => {
  await identify();
  await record('new', [1]);
  expect((await run(false)).slice(-3)).toEqual([
    'tallies.tallies: 1 rows are missing or older than the event store',
    'nothing was changed: run it again with --apply to follow this event store',
    'true',
  ]);
});

test('names ten of the rows, and counts the others', async () => {
  await identify();
  for (let n = 10; n < 22; n += 1) await insertRow(`lost-${n}`, 1, 0);
  expect(await run(false)).toContain(
    `tallies.tallies: 12 without events in the event store: ${[10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map((n) => `lost-${n}`).join(', ')}, and 2 more`,
  );
});

test('says that deliveries are not compared where the role may not read them', async () => {
  await identify();
  await tallies.pool.query('drop table webhooks.events');
  expect(await run(false)).toContain('webhooks.deliveries: not compared, because DATABASE_URL cannot read them');
});

test('an empty store gets an identity of the environment of the schema, which must have one', async () => {
  await saveCheckpoint('relay', 'sto_other', BEYOND);
  expect(await run(false)).toEqual([
    'event store: no identity',
    'the event store at EVENTSTORE_URL has no identity, but the checkpoints of schema tallies belong to sto_other',
    'nothing was changed: run it again with --apply to follow this event store',
    'false',
  ]);
  await expect(run(true)).rejects.toThrow('schema tallies has no environment: start its service first');
  expect(await readStoreIdentity(client)).toBeNull();
  const admin = createPool({ url: tallies.databaseUrl, name: 'admin', max: 1, log });
  await stampSchemas(admin, 'production');
  await admin.end();
  expect((await run(true)).at(-1)).toBe('true');
  const identity = await readStoreIdentity(client);
  expect(identity).toMatchObject({ environment: 'production' });
  expect(await checkpoints()).toEqual([{ name: 'relay', epoch: 8, commit: null, store_id: identity!.storeId }]);
});
