import { newId } from '@cpg/platform';
import { authorization, openApp } from './testing/jest-app.ts';
import { type Dispatchers, dispatchers, message } from './testing/jest-dispatchers.ts';
import { type Receiver, respond, startReceiver } from './testing/jest-receiver.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

test('deleting the deliveries of a webhook fails its waiting ones, and can be repeated', async () => {
  const { app, consume } = await openApp(system);
  const [deleted, other] = [await system.webhook(receiver.url), await system.webhook(receiver.url)];
  receiver.answer = respond(500);
  await consume([deleted, other].map(({ merchantId }) => message({ type: 'order.paid', merchantId })));
  await system.eventually('select 1 from webhooks.queue where attempts = 1 having count(*) = 2');
  await system.pool.query('update gateway.webhooks set deleted_at = now() where id = $1', [deleted.id]);
  const deleteAll = () =>
    app.inject({ method: 'DELETE', url: `/webhooks/${deleted.id}/deliveries`, headers: { authorization } });
  expect([(await deleteAll()).statusCode, (await deleteAll()).statusCode]).toEqual([204, 204]);
  const { rows } = await system.pool.query('select webhook_id, status from webhooks.deliveries order by status');
  expect(rows).toEqual([
    { webhook_id: deleted.id, status: 'failed' },
    { webhook_id: other.id, status: 'pending' },
  ]);
  expect((await system.pool.query('select webhook_id from webhooks.queue')).rows).toEqual([{ webhook_id: other.id }]);
});

test('answers a redelivery and a replay once they are durable, and refuses them with an error code', async () => {
  const { app, consume } = await openApp(system);
  const { id, merchantId } = await system.webhook(receiver.url);
  const paid = message({ type: 'order.paid', merchantId });
  await consume([paid]);
  system.history.happened.push(paid);
  const delivery = await system.eventually<{ id: string }>(
    `select id from webhooks.deliveries where status = 'delivered'`,
  );
  const send = (url: string, payload?: object) =>
    app.inject({
      method: 'POST',
      url: `/webhooks/${id}${url}`,
      headers: { authorization },
      ...(payload && { payload }),
    });
  const again = (deliveryId = delivery.id) => send(`/deliveries/${deliveryId}/redelivery`);
  const range = { from_date: '2020-01-01T00:00:00.000Z', to_date: '2999-01-01T00:00:00.000Z' };
  const replay = (replayId: string) => send('/replays', { replay_id: replayId, event_types: ['order:paid'], ...range });

  expect((await again()).statusCode).toBe(204);
  await receiver.arrived(2);
  // Until the attempt is recorded the delivery is leased, and the replay would skip it.
  await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered' and attempts = 2`);
  const started = await replay('one');
  expect(started.statusCode).toBe(204);
  const { rows } = await system.pool.query(
    'select webhook_id, from_at, to_at <= now() as is_past from webhooks.replays',
  );
  expect(rows).toEqual([{ webhook_id: id, from_at: new Date(range.from_date), is_past: true }]);
  await receiver.arrived(3);
  expect([(await send('/replays/one/cancel')).statusCode, (await send('/replays/one/cancel')).statusCode]).toEqual([
    204, 204,
  ]);
  expect((await send('/replays/other/cancel')).json()).toMatchObject({ statusCode: 404, code: 'not_found' });

  expect((await again(newId('delivery'))).json()).toMatchObject({ statusCode: 404, code: 'not_found' });
  await system.pool.query('delete from webhooks.events');
  expect((await again()).json()).toMatchObject({ statusCode: 409, code: 'delivery_expired' });
  await system.pool.query('update gateway.webhooks set is_enabled = false');
  expect((await replay('two')).json()).toMatchObject({ statusCode: 409, code: 'webhook_disabled' });
});

test('a replay reaches the newest event although the clock was set back since', async () => {
  const { app, consume } = await openApp(system);
  const { id, merchantId } = await system.webhook(receiver.url);
  const time = new Date(Date.now() + 3_600_000).toISOString();
  const paid = message({ type: 'order.paid', merchantId, time });
  await consume([paid]);
  await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered'`);
  system.history.happened.push(paid);
  const started = await app.inject({
    method: 'POST',
    url: `/webhooks/${id}/replays`,
    headers: { authorization },
    payload: {
      replay_id: 'ahead',
      event_types: ['order:paid'],
      from_date: '2020-01-01T00:00:00.000Z',
      to_date: '2999-01-01T00:00:00.000Z',
    },
  });
  expect(started.statusCode).toBe(204);
  const { rows } = await system.pool.query('select to_at from webhooks.replays');
  expect(rows).toEqual([{ to_at: new Date(time) }]);
  await receiver.arrived(2);
});

test('without ORDERS_URL and PAYMENTS_URL replays are refused, and deliveries continue', async () => {
  const { app, consume } = await openApp(system, { withoutHistory: true });
  const { id, merchantId } = await system.webhook(receiver.url);
  const answer = await app.inject({
    method: 'POST',
    url: `/webhooks/${id}/replays`,
    headers: { authorization },
    payload: {
      replay_id: 'one',
      event_types: ['order:paid'],
      from_date: '2020-01-01T00:00:00.000Z',
      to_date: '2999-01-01T00:00:00.000Z',
    },
  });
  expect(answer.json()).toMatchObject({
    statusCode: 503,
    code: 'dependency_unavailable',
    message: expect.stringMatching(/ORDERS_URL and PAYMENTS_URL/),
  });
  await consume([message({ type: 'order.paid', merchantId })]);
  await receiver.arrived(1);
});

test('only health answers without a token, and metrics need their own', async () => {
  const { app } = await openApp(system);
  const status = async (method: 'GET' | 'POST' | 'DELETE', url: string) =>
    (await app.inject({ method, url })).statusCode;
  expect(await status('POST', '/test-deliveries')).toBe(401);
  expect(await status('DELETE', '/webhooks/whk_1/deliveries')).toBe(401);
  expect(await status('GET', '/health')).toBe(200);
  expect(await status('GET', '/metrics')).toBe(401);
  const scraped = { authorization: 'Bearer of Prometheus' };
  expect((await app.inject({ url: '/metrics', headers: scraped })).statusCode).toBe(200);
  const ready = await app.inject('/health/ready');
  expect([ready.statusCode, ready.json().missing]).toEqual([503, ['kafka']]);
});

test('the metrics count due deliveries and attempts by outcome', async () => {
  const { app, instance, metrics, recorded, consume } = await openApp(system);
  const { merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered'`);
  await instance.stop(0);
  await consume([message({ type: 'order.paid', merchantId })]);
  metrics.observe(recorded);
  const text = (await app.inject({ url: '/metrics', headers: { authorization: 'Bearer of Prometheus' } })).body;
  expect(text).toMatch(/^# TYPE outages_total counter$/m);
  expect(text).toMatch(/^webhook_deliveries_due 1$/m);
  expect(text).toMatch(/^webhook_attempts_total\{outcome="delivered"\} 1$/m);
  expect(text).toMatch(/^webhook_attempts_in_flight 0$/m);
  expect(text).toMatch(/^webhook_deliveries_ended_total\{status="delivered"\} 1$/m);
  expect(text).toMatch(/^webhook_endpoints\{state="healthy"\} 1$/m);
});
