import { message } from '../testing/jest-dispatchers.ts';
import { firstAttempts } from '../testing/jest-first-attempts.ts';
import { respond, startReceiver } from '../testing/jest-receiver.ts';

const { deliver, closeAfter, system } = firstAttempts();

const deliverTo = async (status: number, headersNow: () => Record<string, string> = () => ({})) => {
  const receiver = closeAfter(await startReceiver());
  receiver.answer = (...exchange) => respond(status, headersNow())(...exchange);
  return { receiver, recorded: await deliver(`${receiver.url}/hook`) };
};

test('204 means delivered', async () => {
  expect((await deliverTo(204)).recorded).toMatchObject({
    status: 'delivered',
    outcome: 'delivered',
    status_code: 204,
  });
});

test.each([301, 302, 307, 308])('a redirect with %i is not followed', async (status) => {
  const { receiver, recorded } = await deliverTo(status, () => ({ location: '/elsewhere' }));
  expect(recorded).toMatchObject({ status: 'pending', outcome: 'refused', status_code: status });
  expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
});

test('429 without Retry-After is retried as planned', async () => {
  const { recorded } = await deliverTo(429);
  expect(recorded).toMatchObject({ status: 'pending', outcome: 'refused', status_code: 429 });
  expect(recorded.waited).toBeGreaterThanOrEqual(100);
  expect(recorded.waited).toBeLessThan(140);
});

test.each([
  ['seconds', () => '150'],
  ['an HTTP date', () => new Date(Date.now() + 151_000).toUTCString()],
])('429 is retried after a Retry-After in %s', async (_, retryAfter) => {
  const { recorded } = await deliverTo(429, () => ({ 'retry-after': retryAfter() }));
  expect(recorded).toMatchObject({ status: 'pending', outcome: 'refused', status_code: 429 });
  expect(recorded.waited).toBeGreaterThanOrEqual(149);
  expect(recorded.waited).toBeLessThan(190);
});

test('a long Retry-After at most doubles the planned wait', async () => {
  const { recorded } = await deliverTo(429, () => ({ 'retry-after': '86400' }));
  expect(recorded.waited).toBeGreaterThanOrEqual(200);
  expect(recorded.waited).toBeLessThan(240);
});

test('410 fails the delivery and disables the webhook with a reason', async () => {
  const { recorded } = await deliverTo(410);
  expect(recorded).toMatchObject({
    status: 'failed',
    next_attempt_at: null,
    outcome: 'refused',
    status_code: 410,
  });
  const { rows } = await system().pool.query('select is_enabled, disabled_reason from gateway.webhooks');
  expect(rows).toEqual([{ is_enabled: false, disabled_reason: expect.stringContaining('410') as string }]);
});

test('an attempt in flight is recorded when its webhook is deleted, and nothing follows', async () => {
  const receiver = closeAfter(await startReceiver());
  const answers: (() => void)[] = [];
  receiver.answer = (_request, response) => void answers.push(() => response.writeHead(500).end());
  const { consume } = await system().start({ schedule: [0.05] });
  const { id, merchantId } = await system().webhook(receiver.url);
  await consume([1, 2, 3].map(() => message({ type: 'order.paid', merchantId })));
  await receiver.arrived(2);
  await system().pool.query('update gateway.webhooks set deleted_at = now(), is_enabled = false where id = $1', [id]);
  // Answer the requests that were sent before the dispatcher noticed.
  const timer = setInterval(() => answers.shift()?.(), 10);
  await system().eventually(`select 1 from webhooks.deliveries having bool_and(status = 'failed') and count(*) = 3`);
  clearInterval(timer);
  const sent = receiver.received.length;
  const { rows } = await system().pool.query(
    `select (select count(*) from webhooks.attempts)::int as attempts, (select count(*) from webhooks.queue)::int as queued`,
  );
  expect(rows).toEqual([{ attempts: sent, queued: 0 }]);
});
