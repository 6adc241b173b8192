import { setTimeout as sleep } from 'node:timers/promises';
import type { Order, RecordedEntry } from '@cpg/contracts';
import type { Api, WebhookWithSecret } from '../harness/api.ts';
import { orderBody } from '../harness/order-bodies.ts';
import type { Stack } from '../harness/stack.ts';

/** What identifies an event of a history. */
export type HistoryLink = Pick<RecordedEntry, 'id' | 'stream' | 'sequence' | 'hash'>;

/** What the earlier version wrote, and what it answered about it. */
export interface Activity {
  readonly webhook: WebhookWithSecret;
  /** Orders that nothing changes while versions are exchanged. */
  readonly orders: readonly Order[];
  readonly histories: ReadonlyMap<string, readonly HistoryLink[]>;
  readonly partlyPaidId: string;
  readonly heldId: string;
  readonly pendingId: string;
  readonly deletedId: string;
  readonly interruptedId: string;
  readonly unannouncedId: string;
  readonly repeatable: { body: unknown; headers: Record<string, string> };
  readonly repeatableId: string;
}

export const payment = (orderId: string, amount: string) =>
  ({ order_id: orderId, payment_rail: 'crypto_deposit', amount, currency: 'USDT' }) as const;

/** Orders and payments in every status, then two that are interrupted halfway. */
export const writeActivity = async (stack: Stack, api: Api, hook: string): Promise<Activity> => {
  const webhook = await api.createWebhook({
    url: hook,
    events: ['order:created', 'order:updated', 'order:paid', 'payment:applied', 'payment:failed', 'payment:refunded'],
  });
  await api.updateWebhook(webhook.id, { is_enabled: true });
  let count = 0;
  const create = (capabilities = {}) =>
    api.createOrder(orderBody({ external_reference_id: `upgrade-${(count += 1)}`, capabilities }));
  const post = (path: string, body?: object) => api.send('POST', path, { body });

  const open = await create();
  await api.updateOrder(open.id, { metadata: { table: 'B7', 'naïve \u{1F600}': [1, 0.1, 1e21, null] } });
  const paid = await create();
  await api.pay(payment(paid.id, '10'));
  const overpaid = await create({ can_overpay: true });
  await api.pay(payment(overpaid.id, '12.5'));
  const partlyPaid = await create();
  await api.pay(payment(partlyPaid.id, '4'));
  const held = await create({ partial_payments: false });
  await api.pay(payment(held.id, '4'));
  const pending = await create();
  await post('/debug/register-payment', { ...payment(pending.id, '10'), outcome: 'pending' });
  const canceled = await create();
  await api.pay(payment(canceled.id, '4'));
  await api.cancel(canceled.id);
  const late = await create();
  await post(`/debug/orders/${late.id}/advance-time`, { minutes: 61 });
  await api.pay(payment(late.id, '10'));
  const renewed = await create({ expiration_auto_renewal: true });
  await post(`/debug/orders/${renewed.id}/advance-time`, { minutes: 61 });
  const reversed = await create();
  const { payments } = await api.pay(payment(reversed.id, '10'));
  await post(`/debug/payments/${payments[0]!.id}/fail`);
  const refunded = await create();
  const toRefund = (await api.pay(payment(refunded.id, '10'))).payments[0]!;
  await post(`/v1/payments/${toRefund.id}/refund`, { amount: '3', reason: 'goodwill' });
  const deleted = await create();
  await api.deleteOrder(deleted.id);
  const repeatable = {
    body: orderBody({ external_reference_id: 'repeat' }),
    headers: { 'idempotency-key': 'upgrade' },
  };
  const repeated = await api.send('POST', '/v1/orders', repeatable);
  const interrupted = await create();
  const unconfirmed = { ...payment(interrupted.id, '10'), outcome: 'pending' };
  const [interruptedPayment] = ((await post('/debug/register-payment', unconfirmed)).body as Order).payments;

  const ids = [open, paid, overpaid, partlyPaid, held, pending, canceled, late, renewed, reversed, refunded];
  // Payments learn the outcome of their order from Kafka.
  await sleep(3_000);
  const orders = await Promise.all(ids.map(({ id }) => api.order(id)));
  const histories = new Map(await Promise.all(ids.map(async ({ id }) => [id, await linksOf(api, id)] as const)));

  process.kill(stack.pidOf('webhook-dispatcher-1')!, 'SIGSTOP');
  const unannounced = await create();
  process.kill(stack.pidOf('orders')!, 'SIGSTOP');
  const answer = await post(`/debug/payments/${interruptedPayment!.id}/confirm`);
  expect(answer.status).toBe(503);
  return {
    webhook,
    orders,
    histories,
    partlyPaidId: partlyPaid.id,
    heldId: held.id,
    pendingId: pending.id,
    deletedId: deleted.id,
    interruptedId: interrupted.id,
    unannouncedId: unannounced.id,
    repeatable,
    repeatableId: repeated.body.id,
  };
};

/** The history of an order, unchecked: the earlier version showed the data of events in another form. */
const linksOf = async (api: Api, id: string): Promise<HistoryLink[]> =>
  ((await api.send('GET', `/v1/orders/${id}/history`)).body as { items: HistoryLink[] }).items;
