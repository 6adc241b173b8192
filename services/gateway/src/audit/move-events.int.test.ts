import { MERCHANT_STREAM_PREFIX, MerchantEvent, STORE_FORMAT } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { connectEventStore, readStream, verifyHashChains, writeStoreIdentity } from '@cpg/event-sourcing';
import { newUlid } from '@cpg/platform';
import { type Queryable, transaction } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { log, startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { startEventMover } from './event-mover.ts';
import { moveEvents, oldestWaiting, waitingMerchants } from './move-events.ts';
import { recordChange } from './record-change.ts';

const AT = new Date('2026-01-31T12:00:00.000Z');

let gateway: TestGateway;
let shop: TestMerchant;
let client: ReturnType<typeof connectEventStore>;
let stopStore: () => Promise<void>;
beforeAll(async () => {
  gateway = await startGateway();
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  client = connectEventStore(server.url);
  stopStore = async () => {
    await client.dispose();
    await server.stop();
    await database.drop();
  };
});
afterAll(async () => {
  await gateway.close();
  await stopStore();
});
beforeEach(async () => {
  shop = await gateway.merchant();
});

// What one test leaves waiting, the leader of another would try to move.
afterEach(async () => {
  await gateway.pool.query('delete from gateway.merchant_events');
});

const record = (count = 1) =>
  transaction(gateway.pool, async (db) => {
    for (let n = 0; n < count; n += 1)
      await recordChange(
        db,
        { type: 'WebhookDeleted', merchantId: shop.id, subject: `whk_${newUlid()}` },
        { by: 'user:usr_1', at: AT, requestId: `req_${n}` },
      );
  });
const streamOf = (id = shop.id) => `${MERCHANT_STREAM_PREFIX}${id}`;
const recorded = async () => (await readStream(client, streamOf(), MerchantEvent))!;
const rowsOf = async () =>
  (
    await gateway.pool.query<{ id: string; revision: number | null; data: object }>(
      'select id, revision, data from gateway.merchant_events where merchant_id = $1 order by sequence',
      [shop.id],
    )
  ).rows;
const move = (db: Queryable = gateway.pool) => moveEvents({ client, db }, shop.id);

/** The stream has each row once, in their order, and each row is marked. */
const expectMoved = async (count: number) => {
  const rows = await rowsOf();
  expect(rows).toHaveLength(count);
  expect((await recorded()).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(rows.map(({ revision }) => revision)).toEqual(rows.map((_, index) => index));
  const prefixes = [streamOf()];
  const chains = await verifyHashChains(client, { prefixes, signal: new AbortController().signal });
  expect(chains).toMatchObject({ events: count, faults: 0 });
};

test('appends the rows of a merchant in order, with their ids, actors and requests', async () => {
  await record(3);
  expect(await waitingMerchants(gateway.pool)).toContain(shop.id);
  await move();
  await expectMoved(3);
  const [first] = await recorded();
  const [row] = await rowsOf();
  expect(first).toMatchObject({
    event: { type: 'WebhookDeleted', data: row!.data },
    metadata: { actor: 'user:usr_1', requestId: 'req_0', $correlationId: 'req_0' },
  });
  expect(await waitingMerchants(gateway.pool)).not.toContain(shop.id);
  await record(2);
  await move();
  await expectMoved(5);
});

test('more rows than one append takes are appended in several', async () => {
  await record(150);
  await move();
  await expectMoved(150);
});

test('a process that dies between append and mark loses and repeats nothing', async () => {
  await record(3);
  const query = gateway.pool.query.bind(gateway.pool) as (text: string, values?: unknown[]) => Promise<never>;
  const dying = {
    query: async (text: string, values?: unknown[]) => {
      if (text.startsWith('update')) throw new Error('the process died');
      return query(text, values);
    },
  } as unknown as Queryable;
  await expect(move(dying)).rejects.toThrow('the process died');
  expect((await rowsOf()).map(({ revision }) => revision)).toEqual([null, null, null]);
  expect(await recorded()).toHaveLength(3);
  await record(1);
  await move();
  await expectMoved(4);
});

test('two gateways at once, while changes are recorded, append each event once', async () => {
  await Promise.all([
    ...Array.from({ length: 20 }, () => record(2)),
    ...Array.from({ length: 10 }, async (_, index) => {
      await new Promise((done) => setTimeout(done, index * 5));
      await move();
    }),
  ]);
  await Promise.all([move(), move()]);
  await expectMoved(40);
});

test('a store that was restored from a backup gets the events that it lost', async () => {
  await record(2);
  // As after a restore: the rows are marked, and the stream does not have them.
  await gateway.pool.query('update gateway.merchant_events set revision = sequence where merchant_id = $1', [shop.id]);
  await record(1);
  await move();
  await expectMoved(3);
});

test('appends nothing to a stream with another event than the rows', async () => {
  await record(1);
  await move();
  await gateway.pool.query('update gateway.merchant_events set id = $2 where merchant_id = $1', [
    shop.id,
    `evt_${newUlid()}`,
  ]);
  await record(1);
  await expect(move()).rejects.toThrow('do not belong together');
  expect(await recorded()).toHaveLength(1);
});

test('the leader moves what waits, once the event store is known to be of its environment', async () => {
  await record(2);
  const mover = startEventMover({
    ...{
      client,
      pool: gateway.pool,
      databaseUrl: gateway.databaseUrl,
      environment: 'sandbox',
      failed: () => false,
      log,
    },
    pauseMs: 20,
  });
  try {
    while (!(Number(mover.lagSeconds()) > 0)) await new Promise((done) => setTimeout(done, 20));
    expect(await recorded()).toEqual([]);
    const identity = {
      storeId: `sto_${newUlid()}`,
      environment: 'sandbox',
      format: STORE_FORMAT,
      at: AT.toISOString(),
    };
    await writeStoreIdentity(client, identity, 'service:tests');
    while ((await oldestWaiting(gateway.pool)) !== null) await new Promise((done) => setTimeout(done, 20));
    await expectMoved(2);
    while (mover.lagSeconds() !== 0) await new Promise((done) => setTimeout(done, 20));
  } finally {
    await mover.stop();
  }
  expect(mover.lagSeconds()).toBeNull();
});
