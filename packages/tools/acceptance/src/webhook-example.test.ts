import { fileURLToPath } from 'node:url';
import { verify, type WebhookEvent, type WebhookEventType } from '@cpg/sdk/webhooks';
import { Client } from 'pg';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { sharedStack } from './harness/stack-files.ts';

// What a merchant does with events: examples/webhooks/store.mjs of the SDK, with real deliveries and a real database.
const EXAMPLE = fileURLToPath(new URL('../../../sdk/examples/webhooks/store.mjs', import.meta.url));
const EVENTS: WebhookEventType[] = ['order:created', 'order:updated', 'order:paid', 'payment:applied'];
// An order that is paid by one payment: created, seen, applied, paid, and the payment.
const DELIVERIES = 5;

const stack = sharedStack();
let shop: Shop;
let receiver: Receiver;
let db: Client;

beforeAll(async () => {
  [shop, receiver] = await Promise.all([openShop(stack), startReceiver()]);
  db = new Client({ connectionString: stack.environment.DATABASE_URL });
  await db.connect();
  // Tables of this session alone.
  await db.query('create temp table gateway_events (id text primary key)');
  await db.query(
    'create temp table gateway_objects (id text primary key, sequence bigint not null, state jsonb not null)',
  );
  await db.query('create temp table shipments (cart text primary key)');
});
afterAll(() => Promise.all([shop.api.close(), receiver.close(), db.end()]));

test('the example ships once and keeps the newest state when events come twice and in another order', async () => {
  const { store } = (await import(EXAMPLE)) as { store: (db: Client, event: WebhookEvent) => Promise<void> };
  const { id: webhook, secret } = await shop.api.createWebhook({ url: receiver.urlOf('/example'), events: EVENTS });
  await shop.api.updateWebhook(webhook, { is_enabled: true });
  const { id, total_amount: amount, external_reference_id: cart } = await shop.api.createOrder(orderBody());
  await shop.api.pay({ order_id: id, payment_rail: 'gateway_pay', amount, currency: 'USDT' });
  const attempts = await receiver.attempts('/example', DELIVERIES);
  const events = attempts.map(({ rawBody, headers }) => verify(rawBody, headers, secret));
  expect(new Set(events.map(({ object_type, sequence }) => `${object_type} ${sequence}`)).size).toBe(DELIVERIES);

  // The newest first, and everything twice.
  for (const event of [...events.toReversed(), ...events]) await store(db, event);

  expect((await db.query('select cart from shipments')).rows).toEqual([{ cart }]);
  const { rows } = await db.query<{ state: unknown }>('select state from gateway_objects where id = $1', [id]);
  expect(rows).toEqual([{ state: await shop.api.order(id) }]);
  expect((await db.query('select id from gateway_events')).rowCount).toBe(DELIVERIES);
});

test('an event whose change fails is not stored, so it can come again', async () => {
  const { store } = (await import(EXAMPLE)) as { store: (db: Client, event: WebhookEvent) => Promise<void> };
  // The state has no id.
  const event = { id: 'evt_1', event: 'order:created', object_type: 'order', sequence: 0, data: {} };
  await expect(store(db, event as never)).rejects.toThrow();
  expect((await db.query("select id from gateway_events where id = 'evt_1'")).rowCount).toBe(0);
});
