import { configureCaz } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { connectEventStore } from '@cpg/event-sourcing';
import { requireRecordedScales } from './currency-scales.ts';
import { createPool, type Pool, testDatabase } from '@cpg/platform/postgres';
import { createLogger } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { requireStoredScales } from './stored-scales.ts';

const projection = { schema: 'public', tables: ['orders'] } as const;
const closing: (() => unknown)[] = [];
let client: EventStoreDBClient;
let db: Pool;

beforeAll(async () => {
  const [database, events] = await Promise.all([testDatabase(), testDatabase()]);
  const server = await startEventStore({ databaseUrl: events.url, port: 0 });
  client = connectEventStore(server.url);
  db = createPool({ url: database.url, name: 'scales', log: createLogger({ name: 'scales', level: 'silent' }) });
  await db.query('create table orders (id text primary key, currency text, resource json)');
  closing.push(
    () => client.dispose(),
    () => server.stop(),
    () => db.end(),
    () => database.drop(),
    () => events.drop(),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});
afterEach(() => configureCaz(18));

const check = () => requireStoredScales({ client, db, projection, name: 'orders' });
const insert = (id: string, currency: string | null, resource: object | null) =>
  db.query('insert into orders values ($1, $2, $3)', [id, currency, resource && JSON.stringify(resource)]);

test('amounts of earlier versions keep the decimals that they were stored with', async () => {
  await insert('1', 'USDC', { total_amount: '1.000000' });
  await insert('2', 'CAZ', null);
  await check();
  expect(await requireRecordedScales(client)).toEqual(new Set());

  await insert('3', 'CAZ', { total_amount: '1.000000' });
  await expect(check()).rejects.toThrow(/set CAZ_DECIMALS=6 for all services/);
  expect(await requireRecordedScales(client)).toEqual(new Set());

  configureCaz(6);
  await check();
  expect(await requireRecordedScales(client)).toEqual(new Set(['CAZ']));

  // From here on the event store knows: an empty database does not make another configuration right.
  await db.query('delete from orders');
  configureCaz(8);
  await expect(check()).rejects.toThrow(/set CAZ_DECIMALS=6 for all services/);
});
