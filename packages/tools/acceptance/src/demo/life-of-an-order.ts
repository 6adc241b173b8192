import type { Order } from '@cpg/contracts';
import type { Api, Method } from '../harness/api.ts';
import { orderBody } from '../harness/order-bodies.ts';
import type { Attempt, Receiver } from '../harness/receiver.ts';
import { until } from '../harness/until.ts';
import { isValid } from './read-back.ts';
import type { Report } from './report.ts';

/** Repeats, refunds, cancels, captures, deletes orders, lets time pass for them, and checks each answer. */
export const checkLives = async (api: Api, report: Report, reference: string): Promise<void> => {
  await checkIdempotency(api, report, `${reference}-repeat`);
  await checkRefund(api, report, `${reference}-refund`);
  await checkCancelAndDelete(api, report, `${reference}-cancel`);
  await checkCapture(api, report, `${reference}-capture`);
  await checkExpiry(api, report, `${reference}-expiry`);
  await checkRenewal(api, report, `${reference}-renewal`);
  await checkPage(api, report, `${reference}-page`);
};

const MINUTES_PAST_DEADLINE = 61;

/** Sends a request, and throws unless it is answered with 200 or 201. */
const done = async (api: Api, method: Method, path: string, body?: unknown) => {
  const answer = await api.send(method, path, { body });
  if (answer.status !== 200 && answer.status !== 201)
    throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
  return answer;
};
const refusal = async (api: Api, method: Method, path: string, body?: unknown) => {
  const { status, body: refused } = await api.send(method, path, { body });
  return [status, refused.code];
};
const pay = (api: Api, { id }: Order, amount: string): Promise<Order> =>
  api.pay({ order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDT' });
const advance = async (api: Api, { id }: Order): Promise<Order> =>
  (await done(api, 'POST', `/debug/orders/${id}/advance-time`, { minutes: MINUTES_PAST_DEADLINE })).body as Order;
const statusesOf = ({ payments }: Order) => payments.map(({ status, orphan_reason: reason }) => reason ?? status);

const checkIdempotency = async (api: Api, report: Report, reference: string): Promise<void> => {
  const headers = { 'idempotency-key': reference };
  const order = await api.createOrder(orderBody({ external_reference_id: reference }), headers);
  report.line(`${order.id}  10 USDT, created twice with one Idempotency-Key`);
  const again = await api.createOrder(orderBody({ external_reference_id: reference }), headers);
  report.equal('the repeat gets the same order', again.id, order.id);
  const body = orderBody({ external_reference_id: `${reference}-other` });
  const { status } = await api.send('POST', '/v1/orders', { headers, body });
  report.equal('another request with this key is refused', status, 422);
};

const checkRefund = async (api: Api, report: Report, reference: string): Promise<void> => {
  const order = await api.createOrder(orderBody({ external_reference_id: reference }));
  report.line(`${order.id}  10 USDT, paid and given back`);
  const [payment] = (await pay(api, order, '10')).payments;
  const path = `/v1/payments/${payment!.id}/refund`;
  await done(api, 'POST', path, { amount: '4', reason: 'one cup was cold' });
  report.equal('more than is left is refused', await refusal(api, 'POST', path, { amount: '7' }), [
    409,
    'refund_too_large',
  ]);
  await done(api, 'POST', path, { amount: '6' });
  const { status, refunded_amount: refunded } = await api.payment(payment!.id);
  report.equal('two refunds are recorded', [status, refunded], ['refunded', '10.000000']);
  report.equal('the order is reversed', (await api.order(order.id)).status, 'reversed');
};

const checkCancelAndDelete = async (api: Api, report: Report, reference: string): Promise<void> => {
  const order = await api.createOrder(orderBody({ external_reference_id: reference }));
  report.line(`${order.id}  10 USDT, canceled, paid too late and deleted`);
  const path = `/v1/orders/${order.id}`;
  report.equal('is canceled', (await api.cancel(order.id)).status, 'canceled');
  const paid = await pay(api, order, '10');
  report.equal('money that comes later does not count', [paid.status, statusesOf(paid)], ['canceled', ['canceled']]);
  report.equal('is kept while that money is undecided', await refusal(api, 'DELETE', path), [
    409,
    'order_has_unsettled_funds',
  ]);
  await done(api, 'POST', `/v1/payments/${paid.payments[0]!.id}/refund`, {});
  report.equal('is deleted after the refund', (await api.deleteOrder(order.id)).deleted, true);
  report.equal('is gone', await refusal(api, 'GET', path), [404, 'not_found']);
};

const checkCapture = async (api: Api, report: Report, reference: string): Promise<void> => {
  const order = await api.createOrder(
    orderBody({ external_reference_id: reference, capabilities: { partial_payments: false } }),
  );
  report.line(`${order.id}  10 USDT, paid in part without partial_payments, and captured`);
  const held = await pay(api, order, '4');
  report.equal(
    'holds a payment that is too small',
    [held.status, statusesOf(held)],
    ['awaiting_payment', ['received']],
  );
  const captured = await api.capture(order.id);
  report.equal(
    'a capture applies it',
    [captured.status, captured.remaining_amount, statusesOf(captured)],
    ['partially_paid', '6.000000', ['applied']],
  );
};

const checkExpiry = async (api: Api, report: Report, reference: string): Promise<void> => {
  const order = await api.createOrder(orderBody({ external_reference_id: reference }));
  report.line(`${order.id}  10 USDT, never paid in time`);
  report.equal('expires at its deadline', (await advance(api, order)).status, 'expired');
  report.equal('money that comes later is late', statusesOf(await pay(api, order, '10')), ['late']);
  const captured = await api.capture(order.id);
  report.equal('a capture accepts it', [captured.status, statusesOf(captured)], ['paid', ['applied']]);
};

const checkRenewal = async (api: Api, report: Report, reference: string): Promise<void> => {
  const order = await api.createOrder(
    orderBody({ external_reference_id: reference, capabilities: { expiration_auto_renewal: true } }),
  );
  report.line(`${order.id}  10 USDT, renewed at its deadline`);
  const renewed = await advance(api, order);
  report.equal('stays open', renewed.status, 'awaiting_payment');
  report.isTrue(
    'has a later deadline',
    new Date(renewed.expiration_date!).getTime() > new Date(order.expiration_date!).getTime(),
  );
  report.equal('is paid at its new rates', (await pay(api, order, renewed.remaining_amount)).status, 'paid');
};

const checkPage = async (api: Api, report: Report, reference: string): Promise<void> => {
  const order = await api.createOrder(orderBody({ external_reference_id: reference }));
  const url = order.deposit_instructions.flatMap((each) => (each.rail === 'gateway_pay' ? [each.payment_url] : []))[0]!;
  report.line(`${order.id}  10 USDT, its payment page`);
  const { pathname } = new URL(url);
  const open = await api.send('GET', pathname);
  report.isTrue(
    'shows the items and the reference',
    ['Coffee', order.payment_reference!].every((text) => open.text.includes(text)),
  );
  await pay(api, order, '10');
  const paid = await until('the page shows the payment', async () => {
    const { text } = await api.send('GET', pathname);
    return text !== open.text && text;
  });
  report.isTrue('shows no address any more when it is paid', !paid.includes('ethereum:'));
};

interface WebhookOfDemo {
  readonly receiver: Receiver;
  readonly path: string;
  readonly webhookId: string;
  readonly secret: string;
}

/** Rotates the secret of the webhook, and replays what it received since. */
export const checkRotationAndReplay = async (
  api: Api,
  { receiver, path, webhookId, secret }: WebhookOfDemo,
  report: Report,
  since: string,
): Promise<void> => {
  const before = receiver.attemptsOn(path);
  const paid = new Set(before.filter(({ rawBody }) => eventIn(rawBody) === 'order:paid').map(eventIdOf));
  const { secret: next } = await api.rotateSecret(webhookId);
  const to = new Date().toISOString();
  const { id } = await api.replay(webhookId, { from_date: since, to_date: to, event_types: ['order:paid'] });
  report.line(`${id}  order:paid since ${since}`);
  // Somebody else may use this sandbox: their events, and late ones, are left out.
  const again = await until('the replayed events', () => {
    const attempts = receiver.attemptsOn(path).slice(before.length);
    const repeated = attempts.filter((attempt) => paid.has(eventIdOf(attempt)));
    return new Set(repeated.map(eventIdOf)).size === paid.size && repeated;
  });
  report.isTrue(`${paid.size} events come again, under the same ids`, paid.size > 0);
  report.isTrue(
    'both the old and the new secret sign them',
    again.every((attempt) => isValid(attempt, secret) && isValid(attempt, next)),
  );
};

const eventIdOf = ({ headers }: Attempt): string => headers['x-idempotency-key']!;
const eventIn = (rawBody: string): string => (JSON.parse(rawBody) as { event: string }).event;
