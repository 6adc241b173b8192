import { type Payment, paymentView, whereabouts } from '@cpg/contracts';
import { newId } from '@cpg/runtime';
import fc from 'fast-check';
import { paymentIdOf } from './payment/identity.ts';
import type { ExistingPayment } from './payment/state.ts';
import { type BothServices, type Fate, startBothServices } from './testing/jest-both-services.ts';

let both: BothServices;

beforeAll(() => {
  both = startBothServices();
});

afterAll(() => both.stop());

/** Something that happens to an order and its payments. `index` picks a message on its way. */
type Step =
  | { do: 'register'; n: number; confirmed: boolean }
  | { do: 'confirm' | 'fail'; n: number }
  | { do: 'refund'; n: number; amount: string | undefined }
  | { do: 'capture' | 'cancel' | 'delete' | 'watch' | 'crash' }
  | { do: 'advance'; minutes: number }
  | { do: 'wait'; minutes: number }
  | { do: 'reprice'; rate: string }
  | { do: 'deliver'; index: number; again: boolean };

// Few, so that much happens to each.
const n = fc.constantFrom(1, 2, 2, 2, 3, 4);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('register' as const), n, confirmed: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('confirm' as const, 'fail' as const), n }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      n,
      amount: fc.constantFrom(undefined, undefined, '1', '3.5'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('capture', 'cancel', 'delete', 'watch', 'crash') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), minutes: fc.constantFrom(1, 61, 1441) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 61, 1441) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reprice' as const), rate: fc.constantFrom('0.5', '1', '2') }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('deliver' as const), index: fc.nat(100), again: fc.boolean() }),
  },
);

const fate = fc.constantFrom<Fate>('through', 'through', 'lost', 'unanswered');

const history = fc.record({
  allow: fc.record({
    can_cancel: fc.constant(true),
    can_update: fc.constant(true),
    can_overpay: fc.boolean(),
    partial_payments: fc.boolean(),
    express_checkout: fc.constant(false),
    expiration_auto_renewal: fc.boolean(),
  }),
  steps: fc.array(fc.record({ step, fates: fc.array(fate, { maxLength: 3, size: 'max' }) }), {
    minLength: 3,
    maxLength: 25,
    size: 'max',
  }),
  relayIsBehind: fc.boolean(),
  /** In which order what is still on its way arrives at the end. */
  last: fc.infiniteStream(fc.nat(100)),
});

const AMOUNTS = ['10', '4', '6', '12'];

/** Money of this run: the same number is the same money. */
const moneyOf = (run: string, number: number) => `${run}-${number}`;

const act = async (step: Step, orderId: string, merchantId: string): Promise<unknown> => {
  const paymentOf = (number: number) => paymentIdOf('gateway_pay', moneyOf(orderId, number));
  switch (step.do) {
    case 'register':
      return both.payments('POST', '/payments', {
        order_id: orderId,
        rail: 'gateway_pay',
        provider_id: moneyOf(orderId, step.n),
        amount: AMOUNTS[step.n - 1],
        currency: 'USDC',
        confirmed: step.confirmed,
      });
    case 'confirm':
      return both.payments('POST', `/payments/${paymentOf(step.n)}/confirmation`, { confirmations: 2 });
    case 'fail':
      return both.payments('POST', `/payments/${paymentOf(step.n)}/failure`, {});
    case 'refund': {
      const { amount } = step;
      const body = { merchant_id: merchantId, refund_id: newId('refund'), ...(amount && { amount }) };
      return both.payments('POST', `/payments/${paymentOf(step.n)}/refunds`, body);
    }
    case 'capture':
    case 'cancel':
      return both.orders('POST', `/orders/${orderId}/${step.do}`, { merchant_id: merchantId });
    case 'delete':
      return both.orders('DELETE', `/orders/${orderId}`, { merchant_id: merchantId });
    case 'advance':
      return both.orders('POST', `/orders/${orderId}/time`, { minutes: step.minutes });
    case 'watch':
      return both.watch(orderId);
    case 'crash':
      return both.finishDeletions();
    case 'wait':
      return both.passMinutes(step.minutes);
    case 'reprice':
      return both.setPrice(step.rate);
    case 'deliver': {
      const message = both.onTheWay[step.index % both.onTheWay.length];
      return message && both.deliver(message, step);
    }
  }
};

const untilNothingIsOnTheWay = async (last: Iterable<number>) => {
  both.setFates([]);
  await both.finishDeletions();
  for (const index of last) {
    const message = both.onTheWay[index % both.onTheWay.length];
    if (!message) return;
    await both.deliver(message, { again: false });
  }
};

const create = async (orderId: string, merchantId: string, capabilities: object) => {
  const order = {
    external_reference_id: 'cart-1',
    items: [{ name: 'tea', quantity: 1, unit_price: '10', currency: 'USD' }],
    enable_rails: ['gateway_pay'],
    payment_currency: 'USDC',
    capabilities,
    expiration_minutes: 60,
  };
  expect(await both.orders('POST', '/orders', { order_id: orderId, merchant_id: merchantId, order })).toMatchObject({
    status: 201,
  });
};

const sumOf = (payments: readonly ExistingPayment[]) => {
  const parts = payments.flatMap((payment) => Object.values(whereabouts(payment)) as bigint[]);
  return parts.reduce((sum, part) => sum + part, 0n);
};

const byId = (one: Payment, other: Payment) => (one.id < other.id ? -1 : 1);

test('whatever happens, is lost, late or told twice: an order and its payments agree in the end', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ allow, steps, relayIsBehind, last }) => {
      const [orderId, merchantId] = [newId('order'), newId('merchant')];
      both.begin(relayIsBehind);
      await create(orderId, merchantId, allow);
      for (const { step, fates } of steps) {
        both.setFates(fates);
        await act(step, orderId, merchantId);
      }
      await untilNothingIsOnTheWay(last);

      const { order, deleted } = both.orderOf(orderId);
      const payments = both.paymentsOf(orderId);
      if (deleted) {
        const known = order.payments.map(({ paymentId }) => paymentId);
        expect(payments.filter(({ paymentId }) => known.includes(paymentId))).toEqual([]);
        expect(payments.filter(({ status, confirmedAt }) => status === 'received' && confirmedAt)).toEqual([]);
        return;
      }
      expect(order.payments.map(paymentView).sort(byId)).toEqual(payments.map(paymentView).sort(byId));
      expect(sumOf(payments)).toBe(payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0n));
    }),
    { numRuns: 1_000 },
  );
}, 240_000);
