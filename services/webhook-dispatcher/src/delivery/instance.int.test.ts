import { newId } from '@cpg/runtime';
import { Webhook } from 'standardwebhooks';
import { box, type Dispatchers, dispatchers, message, newSecret } from '../testing/jest-dispatchers.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const ended = "select * from webhooks.deliveries where webhook_id = $1 and status <> 'pending'";
const attemptsOf = async (deliveryId: string) =>
  (await system.pool.query('select * from webhooks.attempts where delivery_id = $1 order by number', [deliveryId]))
    .rows;

describe('a delivery', () => {
  test('arrives signed, with what a receiver needs, and is recorded', async () => {
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
    const delivery = await system.eventually<Record<string, unknown>>(ended, [id]);
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

  test('that failed is made again, byte for byte the same', async () => {
    const { consume } = await system.start();
    const { id, merchantId } = await system.webhook(receiver.url);
    const answers = [respond(500), respond(204)];
    receiver.answer = (...args) => answers.shift()!(...args);
    await consume([message({ type: 'order.created', merchantId })]);

    const [first, second] = await receiver.arrived(2);
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['x-idempotency-key']).toBe(first!.headers['x-idempotency-key']);
    const delivery = await system.eventually<{ id: string }>(ended, [id]);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(await attemptsOf(delivery.id)).toMatchObject([
      { outcome: 'refused', status_code: 500 },
      { outcome: 'delivered', status_code: 204 },
    ]);
  });

  test('fails for good once its schedule is spent', async () => {
    const { consume } = await system.start();
    const { id, merchantId } = await system.webhook(receiver.url);
    receiver.answer = respond(302, { location: '/elsewhere' });
    await consume([message({ type: 'order.created', merchantId })]);
    expect(await system.eventually(ended, [id])).toMatchObject({ status: 'failed', attempts: 3 });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/', '/', '/']);
  });

  test('of a webhook that answers 410 ends, and disables the webhook', async () => {
    const { consume } = await system.start();
    const { id, merchantId } = await system.webhook(receiver.url);
    receiver.answer = respond(410);
    await consume([message({ type: 'order.created', merchantId })]);
    expect(await system.eventually(ended, [id])).toMatchObject({ status: 'failed', attempts: 1 });
    const { rows } = await system.pool.query('select is_enabled, disabled_reason from gateway.webhooks');
    expect(rows).toEqual([{ is_enabled: false, disabled_reason: 'the endpoint answered 410 Gone' }]);
  });

  test.each(['update gateway.webhooks set is_enabled = false', 'update gateway.webhooks set deleted_at = now()'])(
    'is not repeated after %s',
    async (change) => {
      const { consume } = await system.start({ schedule: [0.5] });
      const { id, merchantId } = await system.webhook(receiver.url);
      receiver.answer = respond(500);
      await consume([message({ type: 'order.created', merchantId })]);
      await system.eventually('select 1 from webhooks.attempts');
      await system.pool.query(change);
      expect(await system.eventually(ended, [id])).toMatchObject({ status: 'failed', attempts: 1 });
      expect(receiver.received).toHaveLength(1);
    },
  );

  test('is signed by both secrets while one replaces the other', async () => {
    const { consume } = await system.start();
    const { merchantId, secret: old } = await system.webhook(receiver.url);
    const fresh = newSecret();
    await system.pool.query(
      "update gateway.webhooks set previous_secret_box = secret_box, secret_box = $1, previous_secret_until = now() + interval '1 day'",
      [box.seal(fresh)],
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
});

describe('one order for one webhook', () => {
  test('hears of events in their order, each first attempt after the one before has ended', async () => {
    const { consume } = await system.start();
    const { merchantId } = await system.webhook(receiver.url);
    let open = 0;
    let most = 0;
    receiver.answer = (_request, response) => {
      most = Math.max(most, (open += 1));
      setTimeout(() => {
        open -= 1;
        response.end();
      }, 5);
    };
    const orderId = newId('order');
    const events = Array.from({ length: 8 }, (_, n) =>
      message({ type: n % 2 ? 'payment.applied' : 'order.updated', merchantId, orderId, sequence: String(n) }),
    );
    await consume(events.slice(0, 5));
    await consume(events.slice(5));
    const received = await receiver.arrived(8);
    expect(received.map(({ headers }) => headers['x-idempotency-key'])).toEqual(events.map(({ id }) => id));
    expect(most).toBe(1);
  });

  test('a failing event does not hold back later ones', async () => {
    const { consume } = await system.start({ schedule: [3_600] });
    const { merchantId } = await system.webhook(receiver.url);
    const orderId = newId('order');
    const [first, second] = [
      message({ type: 'order.created', merchantId, orderId }),
      message({ type: 'order.paid', merchantId, orderId }),
    ];
    receiver.answer = ({ headers }, response) =>
      void response.writeHead(headers['x-idempotency-key'] === first.id ? 500 : 200).end();
    await consume([first, second]);
    const received = await receiver.arrived(2);
    expect(received[1]!.headers['x-idempotency-key']).toBe(second.id);
  });

  test('keeps its order when other events of it reach another dispatcher', async () => {
    const [one, other] = [await system.start(), await system.start()];
    const { merchantId } = await system.webhook(receiver.url);
    const orderId = newId('order');
    const answering: (() => void)[] = [];
    receiver.answer = (_request, response) => void answering.push(() => response.end());
    const events = ['order.updated', 'payment.applied', 'order.paid'].map((type) =>
      message({ type: type as 'order.paid', merchantId, orderId }),
    );
    await one.consume([events[0]!]);
    await other.consume([events[1]!]);
    await one.consume([events[2]!]);
    for (const count of [1, 2, 3]) {
      await receiver.arrived(count);
      await new Promise((done) => setTimeout(done, 60));
      expect(receiver.received).toHaveLength(count);
      answering.shift()!();
    }
    expect(receiver.received.map(({ headers }) => headers['x-idempotency-key'])).toEqual(events.map(({ id }) => id));
  });
});

describe('an instance', () => {
  test('that dies leaves its deliveries to the others', async () => {
    const dead = await system.start();
    const { id, merchantId } = await system.webhook(receiver.url);
    receiver.answer = () => {};
    const orderId = newId('order');
    await dead.consume([1, 2, 3].map(() => message({ type: 'order.updated', merchantId, orderId })));
    await receiver.arrived(1);
    receiver.answer = respond(200);
    await system.letLeasesRunOut();
    const heir = await system.start();
    await heir.instance.beat();
    await system.eventually(
      `select 1 from webhooks.deliveries where webhook_id = $1 and status = 'delivered' having count(*) = 3`,
      [id],
    );
  });

  test('that stops gives back what it has not begun, and ends what it has', async () => {
    const stopping = await system.start();
    const { id, merchantId } = await system.webhook(receiver.url);
    const answering: (() => void)[] = [];
    receiver.answer = (_request, response) => void answering.push(() => response.end());
    const orderId = newId('order');
    await stopping.consume([1, 2].map(() => message({ type: 'order.updated', merchantId, orderId })));
    await receiver.arrived(1);
    const stopped = stopping.instance.stop(5_000);
    await system.eventually('select 1 from webhooks.queue where leased_by is null');
    answering.shift()!();
    await stopped;
    const { rows } = await system.pool.query('select status, attempts from webhooks.deliveries order by id');
    expect(rows).toEqual([
      { status: 'delivered', attempts: 1 },
      { status: 'pending', attempts: 0 },
    ]);
    receiver.answer = respond(200);
    await system.start();
    await system.eventually(
      `select 1 from webhooks.deliveries where webhook_id = $1 having bool_and(status = 'delivered')`,
      [id],
    );
    expect(receiver.received).toHaveLength(2);
  });

  test('gives up an attempt that does not end in time, without counting it', async () => {
    const stopping = await system.start();
    const { merchantId } = await system.webhook(receiver.url);
    receiver.answer = () => {};
    await stopping.consume([message({ type: 'order.updated', merchantId })]);
    await receiver.arrived(1);
    await stopping.instance.stop(0);
    const { rows } = await system.pool.query('select attempts, leased_by from webhooks.queue');
    expect(rows).toEqual([{ attempts: 0, leased_by: null }]);
  });

  test('shares a backlog with others: every delivery is made once', async () => {
    const { merchantId } = await system.webhook(receiver.url);
    const first = await system.start();
    receiver.answer = respond(200);
    await first.instance.stop(0);
    await first.consume(Array.from({ length: 300 }, () => message({ type: 'order.created', merchantId })));
    expect(receiver.received).toHaveLength(0);
    await Promise.all([system.start(), system.start()]);
    await system.eventually(`select 1 from webhooks.deliveries having bool_and(status = 'delivered')`);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(300);
    expect(receiver.received).toHaveLength(300);
  });
});

test('an endpoint that hangs delays no other', async () => {
  const { consume } = await system.start();
  const merchantId = newId('merchant');
  const hung = await system.webhook(`${receiver.url}/hung`, { merchantId });
  const sound = await system.webhook(`${receiver.url}/sound`, { merchantId });
  receiver.answer = ({ path }, response) => void (path === '/sound' && response.end());
  await consume(Array.from({ length: 200 }, () => message({ type: 'order.created', merchantId })));
  await system.eventually(
    `select 1 from webhooks.deliveries where webhook_id = $1 having bool_and(status = 'delivered')`,
    [sound.id],
  );
  const { rows } = await system.pool.query(
    `select 1 from webhooks.deliveries where webhook_id = $1 and status = 'pending'`,
    [hung.id],
  );
  expect(rows).toHaveLength(200);
});
