import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '@cpg/contracts';
import { type Api, type WebhookWithSecret } from './harness/api.ts';
import { buildEarlierVersion, type EarlierVersion, hasCommit } from './harness/earlier-version.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver } from './harness/receiver.ts';
import { serviceAdmin } from './harness/service-admin.ts';
import { verifyDelivery } from './harness/signatures.ts';
import { type Stack, startStack } from './harness/stack.ts';
import { until } from './harness/until.ts';

/** The last commit before events had recorded schemas of their own. */
const EARLIER = 'a7c36b4';
const SLOW = 600_000;
const RECOVERS_WITHIN_MS = 60_000;
const HOOK = '/hook';

const isThere = await hasCommit(EARLIER);
const whenThere = isThere ? describe : describe.skip;

whenThere(`data written by version ${EARLIER}`, () => {
  let earlier: EarlierVersion;
  let stack: Stack;
  let receiver: Receiver;
  let shop: Shop;
  let before: Story;

  beforeAll(async () => {
    earlier = await buildEarlierVersion(EARLIER);
    receiver = await startReceiver();
    const old = await startStack({ launcher: earlier.launcher, env: { WEBHOOK_RETRY_SECONDS: '1,1,1,2,2,5,5' } });
    shop = await openShop(old);
    before = await writeStory(old, shop.api, receiver.urlOf(HOOK));
    await old.interrupt();
    stack = await old.startThisVersion();
  }, SLOW);

  afterAll(async () => {
    await shop?.api.close();
    await receiver?.close();
    await stack?.stop();
    earlier?.remove();
  }, SLOW);

  test('reads the same: orders, payments, lists and histories', async () => {
    for (const order of before.orders) {
      expect(await shop.api.order(order.id)).toEqual(order);
      for (const payment of order.payments) expect(await shop.api.payment(payment.id)).toEqual(payment);
      expect((await shop.api.orders({ external_reference_id: order.external_reference_id })).items).toEqual([order]);
    }
    for (const [id, history] of before.histories) expect((await shop.api.history(id)).items).toEqual(history);
    expect((await shop.api.send('GET', `/v1/orders/${before.deletedId}`)).status).toBe(404);
  });

  test(
    'applies and announces a confirmed payment that its order does not know to be confirmed',
    async () => {
      await until('the order is paid', async () => (await shop.api.order(before.interruptedId)).status === 'paid', {
        withinMs: RECOVERS_WITHIN_MS,
      });
      await announced('order:paid', before.interruptedId);
    },
    SLOW,
  );

  test('announces events that were never delivered', () => announced('order:created', before.unannouncedId), SLOW);

  test('takes the rest of an order that was paid in part, and of one whose payment is held', async () => {
    for (const id of [before.partlyPaidId, before.heldId]) {
      expect((await shop.api.pay(payment(id, '6'))).status).toBe('paid');
      await announced('order:paid', id);
    }
  });

  test('confirms a payment that was pending', async () => {
    const [pending] = (await shop.api.order(before.pendingId)).payments;
    const answer = await shop.api.send('POST', `/debug/payments/${pending!.id}/confirm`);
    expect([answer.status, (await shop.api.order(before.pendingId)).status]).toEqual([201, 'paid']);
  });

  test('answers a repeated request with the stored answer', async () => {
    const answer = await shop.api.send('POST', '/v1/orders', before.repeatable);
    expect([answer.status, answer.headers['idempotency-replayed'], answer.body.id]).toEqual([
      201,
      'true',
      before.repeatableId,
    ]);
  });

  test(
    'passes audit verify, projections verify and projections rebuild',
    async () => {
      for (const command of ['audit verify', 'projections verify', 'projections rebuild', 'projections verify'])
        for (const service of ['orders', 'payments'] as const)
          expect([command, await serviceAdmin(stack, service, command).outcome()]).toEqual([
            command,
            { code: 0, output: expect.any(String) },
          ]);
    },
    SLOW,
  );

  /** Waits until the webhook got an event of an order, signed with the secret of the earlier version. */
  const announced = async (event: string, orderId: string) =>
    until(
      `${event} of ${orderId}`,
      () =>
        receiver
          .attemptsOn(HOOK)
          .map((attempt) => verifyDelivery(attempt, before.webhook.secret))
          .some((payload) => payload.event === event && payload.data.id === orderId),
      { withinMs: RECOVERS_WITHIN_MS },
    );
});

/** What the earlier version wrote, and what it answered about it. */
interface Story {
  readonly webhook: WebhookWithSecret;
  /** Orders that nothing changes while versions are exchanged. */
  readonly orders: readonly Order[];
  readonly histories: ReadonlyMap<string, unknown>;
  readonly partlyPaidId: string;
  readonly heldId: string;
  readonly pendingId: string;
  readonly deletedId: string;
  readonly interruptedId: string;
  readonly unannouncedId: string;
  readonly repeatable: { body: unknown; headers: Record<string, string> };
  readonly repeatableId: string;
}

const payment = (orderId: string, amount: string) =>
  ({ order_id: orderId, payment_rail: 'crypto_deposit', amount, currency: 'USDT' }) as const;

/** Orders and payments in every status, then two that are interrupted halfway. */
const writeStory = async (stack: Stack, api: Api, hook: string): Promise<Story> => {
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
  const histories = new Map(await Promise.all(ids.map(async ({ id }) => [id, (await api.history(id)).items] as const)));

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
