import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readStoreIdentity, writeStoreIdentity } from '@cpg/event-sourcing';
import { createPool, type Environment, migrate, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger, FatalStartError } from '@cpg/platform';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { requireOwnStore } from './own-store.ts';
import { startTestStore } from '../../../event-sourcing/src/testing/jest-event-store.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const projection = { schema: 'things', tables: ['things'], prefixes: ['thing-', 'deletion-'] } as const;
const MERCHANT = 'mer_1';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let client: EventStoreDBClient;
let stop: () => Promise<void>;

beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'test', log });
  const folder = mkdtempSync(join(tmpdir(), 'own-store-'));
  writeFileSync(join(folder, '001-things.sql'), 'create table things (id text primary key);');
  await migrate(pool, { schema: 'things', folder });
  rmSync(folder, { recursive: true });
  await pool.query('create schema gateway');
  await pool.query('create table gateway.merchant_ids (id text)');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  const store = await startTestStore();
  client = store.client;
  stop = async () => {
    await store.stop();
    await pool.query('truncate things.things, gateway.merchant_ids');
  };
});
afterEach(() => stop());

const requireStore = (environment: Environment) =>
  requireOwnStore({
    client,
    db: pool,
    projection: { ...projection, prefixes: [...projection.prefixes] },
    environment,
    name: 'things',
  });
const record = (id: string) =>
  client.appendToStream(`thing-${id}`, jsonEvent({ type: 'ThingMade', data: { merchantId: MERCHANT } }));

test('an empty store is identified once, by whichever service is first', async () => {
  const identities = await Promise.all([1, 2, 3].map(() => requireStore('sandbox')));
  const [identity] = identities;
  expect(identity).toMatchObject({ storeId: expect.stringMatching(/^sto_/), environment: 'sandbox' });
  expect(identities).toEqual([identity, identity, identity]);
  expect(await readStoreIdentity(client)).toEqual(identity);
  await expect(requireStore('production')).rejects.toThrow(
    'ENVIRONMENT is production, but the event store at EVENTSTORE_URL belongs to sandbox: correct ENVIRONMENT or the address',
  );
});

test('a store with events of a version before 0.2.0 is refused', async () => {
  const identity = { storeId: 'sto_1', environment: 'sandbox', at: '2026-01-01T00:00:00.000Z' };
  await writeStoreIdentity(client, identity, 'service:things');
  const refusal = await requireStore('sandbox').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(FatalStartError);
  expect((refusal as Error).message).toMatch(
    /^the event store at EVENTSTORE_URL has events of a version before 0\.2\.0, .*: start with an empty database, event store/,
  );
});

test('a store without an identity is identified when it has the events of the rows', async () => {
  await pool.query(`insert into things.things values ('a')`);
  await expect(requireStore('sandbox')).rejects.toThrow(/does not have the events of a, which the database/);
  await record('a');
  expect(await requireStore('sandbox')).toMatchObject({ environment: 'sandbox' });
});

test('a deleted stream shows that the store knew its row', async () => {
  await pool.query(`insert into things.things values ('a')`);
  await record('a');
  await client.tombstoneStream('thing-a');
  expect(await requireStore('sandbox')).toMatchObject({ environment: 'sandbox' });
});

test('a store without an identity is not identified by a database that does not know its merchants', async () => {
  await record('a');
  await expect(requireStore('sandbox')).rejects.toThrow(/has events of merchants that the database .* does not have/);
  expect(await readStoreIdentity(client)).toBeNull();
  await pool.query('insert into gateway.merchant_ids values ($1)', [MERCHANT]);
  expect(await requireStore('sandbox')).toMatchObject({ environment: 'sandbox' });
});
