import { isAppError, type Payment, paymentBreakdown, paymentView } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import fc from 'fast-check';
import { paymentIdOf } from '../payment/identity.ts';
import { type BothServices, createCall, SHOWN_CHAIN, startBothServices } from '../testing/jest-both-services.ts';
import type { CallFate } from '../testing/jest-unreliable-calls.ts';

let both: BothServices;
beforeAll(() => void (both = startBothServices()));
beforeEach(() => both.reset(false));
afterAll(() => both.stop());

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const BLOCKS = [
  { height: 7, hash: '0x7a' },
  { height: 8, hash: '0x8b' },
];

const create = async (capabilities: object = {}) => {
  const [orderId, merchantId] = [newId('order'), newId('merchant')];
  const body = createCall({ orderId, merchantId }, { capabilities, expiration_minutes: 60 });
  expect(await both.orders('POST', '/orders', body)).toMatchObject({ status: 201 });
  return { orderId, merchantId };
};

/** Money at an address of no order. */
const moneyOf = (orderId: string, more: object = {}) => ({
  address: ADDRESS,
  rail: 'crypto_deposit' as const,
  provider_id: `${SHOWN_CHAIN}/${orderId}:0`,
  amount: '10',
  currency: 'USDC',
  confirmed: true,
  block: BLOCKS[0],
  confirmations: 12,
  ...more,
});
type Money = ReturnType<typeof moneyOf>;

const report = (money: object) => both.payments('POST', '/payments', money);
const paymentIdIn = ({ provider_id }: Money) => paymentIdOf('crypto_deposit', provider_id);
const assign = (money: Money, to: { merchantId: string; orderId?: string }) =>
  both.operator(paymentIdIn(money), { type: 'AssignPayment', ...to, reason: 'r', by: 'ana', at: both.now() });

const deliverAll = async (order: Iterable<number> = Array<number>(200).fill(0)) => {
  both.setFates([]);
  for (const index of order) {
    const message = both.inFlight[index % both.inFlight.length];
    if (!message) return;
    await both.deliver(message, { again: false });
  }
};

/** The order's own payments and the payments that name it, which are the same. */
const paymentsOf = (orderId: string): Payment[] => {
  const payments = both.paymentsOf(orderId).map(paymentView);
  expect(both.orderOf(orderId).order.payments.map(paymentView)).toEqual(payments);
  return payments;
};

test('assigned money pays its order, and a late answer that no order was known changes nothing', async () => {
  const to = await create();
  const money = moneyOf(to.orderId, { amount: '10.000001' });
  await report(money);
  // Kafka still has the report of the unclaimed payment, to which orders answers that it knows no such order.
  expect(both.inFlight.map(({ type }) => type)).toContain('payment.received');
  await assign(money, to);
  await deliverAll();
  expect(both.orderOf(to.orderId).order.status).toBe('paid');
  expect(paymentsOf(to.orderId)).toMatchObject([
    { status: 'applied', applied_amount: '10.000000', unapplied_amount: '0.000001', merchant_id: to.merchantId },
  ]);
});

test.each<[string, object, object]>([
  ['wrong_currency', { currency: 'USDT' }, {}],
  ['wrong_currency', { credited: false }, {}],
  ['wrong_network', { provider_id: 'eip155:137/0xabc:0' }, {}],
  ['already_paid', {}, { isPaid: true }],
  ['late', {}, { isExpired: true }],
  ['insufficient', { amount: '4' }, { partial_payments: false, isExpiring: true }],
])('assigned money is an orphan of its order by the usual rules: %s', async (reason, more, { ...setting }) => {
  const { isPaid, isExpired, isExpiring, ...capabilities } = setting as Record<string, boolean>;
  const to = await create(capabilities);
  if (isPaid) await report({ ...moneyOf('other'), address: undefined, order_id: to.orderId });
  if (isExpired) {
    both.passMinutes(61);
    await both.watch(to.orderId);
  }
  const money = moneyOf(to.orderId, more);
  await report(money);
  await assign(money, to);
  await deliverAll();
  if (isExpiring) {
    both.passMinutes(61);
    await both.watch(to.orderId);
    await deliverAll();
  }
  const payments = paymentsOf(to.orderId);
  expect(payments.find(({ id }) => id === paymentIdIn(money))).toMatchObject({
    status: 'orphan',
    orphan_reason: reason,
  });
});

test('money that is older than its order is never applied, also when it is assigned', async () => {
  const money = moneyOf('older');
  await report({ ...money, seen_at: both.minutesAgo(5) });
  const to = await create();
  await assign(money, to);
  await deliverAll();
  expect(paymentsOf(to.orderId)).toMatchObject([{ status: 'orphan', orphan_reason: 'before_order' }]);
});

test('a capture applies assigned money that was late', async () => {
  const to = await create();
  both.passMinutes(61);
  await both.watch(to.orderId);
  const money = moneyOf(to.orderId);
  await report(money);
  await assign(money, to);
  await deliverAll();
  await both.orders('POST', `/orders/${to.orderId}/capture`, { merchant_id: to.merchantId });
  await deliverAll();
  expect(paymentsOf(to.orderId)).toMatchObject([{ status: 'applied', applied_amount: '10.000000' }]);
});

test('money of a merchant alone goes to no order, and the merchant refunds it', async () => {
  const { orderId, merchantId } = await create();
  const money = moneyOf(orderId);
  await report(money);
  await assign(money, { merchantId });
  await deliverAll();
  expect(paymentsOf(orderId)).toEqual([]);
  expect(both.paymentsOf(ADDRESS).map(paymentView)).toMatchObject([
    { status: 'orphan', orphan_reason: 'unknown_address', merchant_id: merchantId },
  ]);
  const refund = { merchant_id: merchantId, refund_id: newId('refund') };
  expect(await both.payments('POST', `/payments/${paymentIdIn(money)}/refunds`, refund)).toMatchObject({
    status: 200,
    body: { payment: { status: 'refunded', refunded_amount: '10.000000' } },
  });
});

test('money is kept that comes back after its order was deleted', async () => {
  const to = await create();
  const money = moneyOf(to.orderId);
  await report(money);
  await assign(money, to);
  await deliverAll();
  await both.payments('POST', `/payments/${paymentIdIn(money)}/failure`, { failure_reason: 'reorg' });
  await deliverAll();
  expect(both.orderOf(to.orderId).order.status).toBe('reversed');
  expect(await both.orders('DELETE', `/orders/${to.orderId}`, { merchant_id: to.merchantId })).toMatchObject({
    status: 200,
  });
  await deliverAll();
  expect(await report({ ...money, block: BLOCKS[1] })).toMatchObject({ status: 201 });
  await deliverAll();
  expect(both.paymentsOf(to.orderId).map(paymentView)).toMatchObject([
    { status: 'orphan', orphan_reason: 'unknown_order', merchant_id: to.merchantId, paid_amount: '10.000000' },
  ]);
});

describe('while a chain reorganizes', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('report' as const), block: fc.nat(1), confirmed: fc.boolean() }),
    fc.record({ do: fc.constant('fail' as const) }),
    fc.record({ do: fc.constant('assign' as const) }),
    fc.record({ do: fc.constant('pay' as const), amount: fc.constantFrom('4', '10') }),
    fc.record({ do: fc.constant('capture' as const) }),
    fc.record({ do: fc.constant('deliver' as const), index: fc.nat(100), again: fc.boolean() }),
  );
  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
  const fates = fc.array(fc.constantFrom<CallFate>('delivered', 'request lost', 'response lost'), {
    maxLength: 3,
    size: 'max',
  });

  test('an order and its payments agree in the end, and money is assigned at most once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ step, fates }), { maxLength: 30, size: 'max' }),
        fc.infiniteStream(fc.nat(100)),
        fc.boolean(),
        async (steps, lastDeliveries, partial_payments) => {
          both.reset(false);
          const to = await create({ partial_payments });
          const money = moneyOf(to.orderId);
          let assigned = 0;
          const act = async (each: Step) => {
            switch (each.do) {
              case 'report': {
                const { block, confirmed } = each;
                return report({ ...money, block: BLOCKS[block], confirmed, confirmations: confirmed ? 12 : 1 });
              }
              case 'fail':
                return both.payments('POST', `/payments/${paymentIdIn(money)}/failure`, { failure_reason: 'reorg' });
              case 'assign':
                try {
                  assigned += (await assign(money, to)).events.length;
                } catch (error) {
                  if (!isAppError(error, 'payment_conflict') && !isAppError(error, 'not_found')) throw error;
                }
                return;
              case 'pay':
                return report({
                  ...moneyOf('other', { amount: each.amount }),
                  address: undefined,
                  order_id: to.orderId,
                });
              case 'capture':
                return both.orders('POST', `/orders/${to.orderId}/capture`, { merchant_id: to.merchantId });
              case 'deliver': {
                const message = both.inFlight[each.index % both.inFlight.length];
                return message && both.deliver(message, each);
              }
            }
          };
          for (const each of steps) {
            both.setFates(each.fates);
            await act(each.step);
          }
          await deliverAll(lastDeliveries);
          const byId = (one: Payment, other: Payment) => (one.id < other.id ? -1 : 1);
          const payments = both.paymentsOf(to.orderId);
          const inOrder = both.orderOf(to.orderId).order.payments.map(paymentView).sort(byId);
          expect(inOrder).toEqual(payments.map(paymentView).sort(byId));
          for (const payment of payments) {
            const parts = Object.values(paymentBreakdown(payment)) as bigint[];
            expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(payment.amountMinor);
          }
          expect(assigned).toBe(payments.some(({ assignment }) => assignment) ? 1 : 0);
        },
      ),
      { numRuns: 50 },
    );
  }, 600_000);
});
