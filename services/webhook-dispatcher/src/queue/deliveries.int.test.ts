import { secretBox, webhookRow } from '@cpg/platform';
import { Webhook } from 'standardwebhooks';
import { box, type Dispatchers, dispatchers, message, newSecret } from '../testing/jest-dispatchers.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import { createDirectory } from '../webhooks/directory.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const ENDED = "select * from webhooks.deliveries where webhook_id = $1 and status <> 'pending'";
const attemptsOf = async (deliveryId: string) =>
  (await system.pool.query('select * from webhooks.attempts where delivery_id = $1 order by number', [deliveryId]))
    .rows;

test('sends a signed request with all headers, and records the attempt', async () => {
  const { consume } = await system.start();
  const { id, merchantId, secret } = await system.webhook(`${receiver.url}/hook?a=b`);
  const event = message({ type: 'order.paid', merchantId, sequence: '7', time: '2026-11-21T10:00:00.123Z' });
  const now = new Date();
  await consume([{ ...event, time: now.toISOString() }]);

  const [request] = await receiver.arrived(1);
  expect(request!.path).toBe('/hook?a=b');
  expect(JSON.parse(request!.body)).toEqual({
    event: 'order:paid',
    data: event.data.resource,
    object_type: 'order',
    timestamp: now.getTime(),
  });
  expect(new Webhook(secret).verify(request!.body, request!.headers)).toBeTruthy();
  const [t, v1] = request!.headers['x-signature']!.split(',');
  expect(t).toBe(`t=${request!.headers['webhook-timestamp']}`);
  expect(Buffer.from(v1!.slice(3), 'hex').toString('base64')).toBe(
    request!.headers['webhook-signature']!.replace('v1,', ''),
  );
  const delivery = await system.eventually<Record<string, unknown>>(ENDED, [id]);
  expect(delivery).toMatchObject({
    status: 'delivered',
    attempts: 1,
    next_attempt_at: null,
    event_type: 'order:paid',
  });
  expect(request!.headers).toMatchObject({
    'content-type': 'application/json',
    'x-timestamp': String(now.getTime()),
    'x-idempotency-key': event.id,
    'webhook-id': event.id,
    'x-sequence': '7',
    'x-delivery-id': delivery.id,
  });
  expect(await attemptsOf(delivery.id as string)).toMatchObject([
    { outcome: 'delivered', status_code: 200, number: 1 },
  ]);
  expect((await system.pool.query('select * from webhooks.queue')).rows).toEqual([]);
});

test('retries a failed attempt with the same bytes', async () => {
  const { consume } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  const answers = [respond(500), respond(204)];
  receiver.answer = (...args) => answers.shift()!(...args);
  await consume([message({ type: 'order.created', merchantId })]);

  const [first, second] = await receiver.arrived(2);
  expect(second!.body).toBe(first!.body);
  expect(second!.headers['x-idempotency-key']).toBe(first!.headers['x-idempotency-key']);
  const delivery = await system.eventually<{ id: string }>(ENDED, [id]);
  expect(delivery).toMatchObject({ status: 'delivered', attempts: 2 });
  expect(await attemptsOf(delivery.id)).toMatchObject([
    { outcome: 'refused', status_code: 500 },
    { outcome: 'delivered', status_code: 204 },
  ]);
});

test('fails when its schedule is spent', async () => {
  const { consume } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(302, { location: '/elsewhere' });
  await consume([message({ type: 'order.created', merchantId })]);
  expect(await system.eventually(ENDED, [id])).toMatchObject({ status: 'failed', attempts: 3 });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/', '/', '/']);
});

test('fails and disables the webhook when the endpoint answers 410', async () => {
  const { consume } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(410);
  await consume([message({ type: 'order.created', merchantId })]);
  expect(await system.eventually(ENDED, [id])).toMatchObject({ status: 'failed', attempts: 1 });
  const { rows } = await system.pool.query('select is_enabled, disabled_reason from gateway.webhooks');
  expect(rows).toEqual([{ is_enabled: false, disabled_reason: 'the endpoint answered 410 Gone' }]);
});

test.each(['update gateway.webhooks set is_enabled = false', 'update gateway.webhooks set deleted_at = now()'])(
  'is not retried after %s',
  async (change) => {
    const { consume } = await system.start({ schedule: [0.5] });
    const { id, merchantId } = await system.webhook(receiver.url);
    receiver.answer = respond(500);
    await consume([message({ type: 'order.created', merchantId })]);
    await system.eventually('select 1 from webhooks.attempts');
    await system.pool.query(change);
    expect(await system.eventually(ENDED, [id])).toMatchObject({ status: 'failed', attempts: 1 });
    expect(receiver.received).toHaveLength(1);
  },
);

test('is signed with both secrets during a rotation', async () => {
  const { consume } = await system.start();
  const { id, merchantId, secret: old } = await system.webhook(receiver.url);
  const fresh = newSecret();
  await system.pool.query(
    "update gateway.webhooks set previous_secret_box = secret_box, secret_box = $1, previous_secret_until = now() + interval '1 day'",
    [box.seal(fresh, webhookRow(id))],
  );
  await consume([message({ type: 'order.created', merchantId })]);
  const [request] = await receiver.arrived(1);
  for (const secret of [old, fresh]) expect(new Webhook(secret).verify(request!.body, request!.headers)).toBeTruthy();
  expect(request!.headers['x-signature']!.match(/v1=/g)).toHaveLength(2);

  await system.pool.query('update gateway.webhooks set previous_secret_until = now()');
  await consume([message({ type: 'order.created', merchantId })]);
  const [, later] = await receiver.arrived(2);
  expect(() => new Webhook(old).verify(later!.body, later!.headers)).toThrow();
  expect(new Webhook(fresh).verify(later!.body, later!.headers)).toBeTruthy();
});

test('is signed with three secrets after two rotations, each until its own end', async () => {
  const { consume } = await system.start();
  const { id, merchantId, secret: oldest } = await system.webhook(receiver.url);
  const [older, current] = [newSecret(), newSecret()];
  await system.pool.query(
    `update gateway.webhooks set older_secret_box = secret_box, previous_secret_box = $1, secret_box = $2,
       older_secret_until = now() + interval '1 hour', previous_secret_until = now() + interval '1 day'`,
    [box.seal(older, webhookRow(id)), box.seal(current, webhookRow(id))],
  );
  await consume([message({ type: 'order.created', merchantId })]);
  const [request] = await receiver.arrived(1);
  for (const secret of [oldest, older, current])
    expect(new Webhook(secret).verify(request!.body, request!.headers)).toBeTruthy();

  await system.pool.query('update gateway.webhooks set older_secret_until = now()');
  await consume([message({ type: 'order.created', merchantId })]);
  const [, later] = await receiver.arrived(2);
  expect(() => new Webhook(oldest).verify(later!.body, later!.headers)).toThrow();
  for (const secret of [older, current]) expect(new Webhook(secret).verify(later!.body, later!.headers)).toBeTruthy();
});

test('waits, and spends no attempt, while its secret is that of another webhook', async () => {
  const { consume, webhooks } = await system.start();
  const { id, merchantId, secret } = await system.webhook(receiver.url);
  const other = await system.webhook(receiver.url);
  const swap = () =>
    system.pool.query(
      `update gateway.webhooks a set secret_box = b.secret_box from gateway.webhooks b
        where a.id = any($1) and b.id = any($1) and a.id <> b.id`,
      [[id, other.id]],
    );
  await swap();
  await consume([message({ type: 'order.created', merchantId })]);
  await system.eventually('select from webhooks.queue where webhook_id = $1', [id]);
  expect(() => webhooks.get(id)!.keys(new Date())).toThrow('belongs to another row');
  expect((await system.pool.query('select from webhooks.attempts')).rowCount).toBe(0);

  await swap();
  const [request] = await receiver.arrived(1);
  expect(new Webhook(secret).verify(request!.body, request!.headers)).toBeTruthy();
  expect(await system.eventually(ENDED, [id])).toMatchObject({ status: 'delivered', attempts: 1 });
});

test('a start is refused while a secret needs a key that is not configured', async () => {
  await system.webhook(receiver.url);
  const withKeys = (...keys: string[]) =>
    createDirectory({ pool: system.pool, box: secretBox(keys), now: () => new Date() }).checkKeys();
  await expect(withKeys('another key, which no secret was sealed with')).rejects.toThrow(
    /^WEBHOOK_ENCRYPTION_KEY lacks a key that encrypted secrets of webhooks/,
  );
  await expect(withKeys('a key of at least 32 characters for tests')).resolves.toBeUndefined();
});
