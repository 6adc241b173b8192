import { fromMinor, type Order, type Payment, paymentBreakdown, paymentView, sightingOf } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import fc from 'fast-check';
import { paymentIdOf } from '../payment/identity.ts';
import type { ExistingPayment } from '../payment/state.ts';
import { type BothServices, createCall, SHOWN_CHAIN, startBothServices } from '../testing/jest-both-services.ts';
import {
  ALLOW,
  decisionIsLostBeforeARefund,
  fate,
  history,
  moneyReturnsAndFailsUnseen,
  moneyReturnsBeforeADeletion,
  type Step,
  surplusAfterAnOrderRefund,
} from '../testing/jest-order-histories.ts';
import type { CallFate } from '../testing/jest-unreliable-calls.ts';

let both: BothServices;

beforeAll(() => {
  both = startBothServices();
});

afterAll(() => both.stop());

const AMOUNTS = ['10', '4', '6', '12', '10', '9.6'];

/** The chains of payments 1, 4 and 5, the last of which no order shows. The others come from a provider. */
const CHAINS: Readonly<Record<number, string>> = { 1: SHOWN_CHAIN, 4: SHOWN_CHAIN, 5: 'eip155:11155111' };

/** The provider id of payment `number` of this run. */
const providerIdOf = (run: string, number: number) =>
  CHAINS[number] ? `${CHAINS[number]}/${run}:${number}` : `${run}-${number}`;

const blockAt = (height: number | undefined) => height !== undefined && { block: { height, hash: `0x${height}` } };

const act = async (step: Step, orderId: string, merchantId: string): Promise<unknown> => {
  const paymentOf = (number: number) => paymentIdOf('gateway_pay', providerIdOf(orderId, number));
  switch (step.do) {
    case 'register':
      return both.payments('POST', '/payments', {
        order_id: orderId,
        rail: 'gateway_pay',
        provider_id: providerIdOf(orderId, step.n),
        amount: AMOUNTS[step.n - 1],
        currency: 'USDC',
        confirmed: step.confirmed,
        seen_at: both.minutesAgo(step.seenMinutesAgo ?? 0),
        ...(!step.confirmed && { confirmations: step.height === undefined ? 0 : 1 }),
        ...blockAt(step.height),
      });
    case 'confirm':
      return both.payments('POST', `/payments/${paymentOf(step.n)}/confirmation`, {
        confirmations: 2,
        ...blockAt(step.height),
      });
    case 'fail':
      return both.payments('POST', `/payments/${paymentOf(step.n)}/failure`, {});
    case 'refund': {
      const body = { merchant_id: merchantId, refund_id: newId('refund'), ...step.of };
      return both.payments('POST', `/payments/${paymentOf(step.n)}/refunds`, body);
    }
    case 'refund order': {
      const body = { merchant_id: merchantId, order_refund_id: newId('orderRefund'), amount: step.amount };
      return both.orders('POST', `/orders/${orderId}/refund`, body);
    }
    case 'capture':
    case 'cancel':
      return both.orders('POST', `/orders/${orderId}/${step.do}`, { merchant_id: merchantId });
    case 'delete': {
      const { order, deleted } = both.orderOf(orderId);
      const held = order.payments.filter(({ status }) => status !== 'failed').map(({ paymentId }) => paymentId);
      const unsettled = both
        .paymentsOf(orderId)
        .filter(({ paymentId, status }) => !held.includes(paymentId) && ['received', 'orphan'].includes(status));
      const { status } = await both.orders('DELETE', `/orders/${orderId}`, { merchant_id: merchantId });
      // A deletion that succeeds leaves no open payment on which the order does not decide.
      if (status === 200 && !deleted) expect(unsettled).toEqual([]);
      return;
    }
    case 'advance':
      return both.orders('POST', `/orders/${orderId}/time`, { minutes: step.minutes });
    case 'watch':
      return both.watch(orderId);
    // Lost calls interrupt deletions. The restart after a crash finishes them.
    case 'crash':
      return both.finishDeletions();
    case 'wait':
      return both.passMinutes(step.minutes);
    case 'reprice':
      return both.setPrice(step.rate);
    case 'deliver': {
      const message = both.inFlight[step.index % both.inFlight.length];
      return message && both.deliver(message, step);
    }
  }
};

const confirmed = (n: number): Step => ({ do: 'register', n, confirmed: true });
const failed = (n: number): Step => ({ do: 'fail', n });

const deliverAll = async (order: Iterable<number>) => {
  both.setFates([]);
  await both.finishDeletions();
  for (const index of order) {
    const message = both.inFlight[index % both.inFlight.length];
    if (!message) return;
    await both.deliver(message, { again: false });
  }
};

const create = async (orderId: string, merchantId: string, capabilities: object, tolerancePercent?: number) => {
  const call = createCall(
    { orderId, merchantId },
    {
      capabilities,
      expiration_minutes: 60,
      ...(tolerancePercent !== undefined && { underpayment_tolerance_percent: tolerancePercent }),
    },
  );
  expect(await both.orders('POST', '/orders', call)).toMatchObject({ status: 201 });
};

const sumOf = (payments: readonly ExistingPayment[]) => {
  const parts = payments.flatMap((payment) => Object.values(paymentBreakdown(payment)) as bigint[]);
  return parts.reduce((sum, part) => sum + part, 0n);
};

const byId = (one: Payment, other: Payment) => (one.id < other.id ? -1 : 1);

test('an order and its payments agree in the end, whatever is lost, late or repeated', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ allow, steps, relayIsBehind, lastDeliveries, ...terms }) => {
      const [orderId, merchantId] = [newId('order'), newId('merchant')];
      both.reset(relayIsBehind);
      both.setSmallestPayable(terms.smallestPayableMinor);
      await create(orderId, merchantId, allow, terms.tolerancePercent);
      for (const { step, fates } of steps) {
        both.setFates(fates);
        await act(step, orderId, merchantId);
      }
      await deliverAll(lastDeliveries);

      expect(both.bookDifferences(orderId)).toEqual([]);
      const { order, deleted } = both.orderOf(orderId);
      const payments = both.paymentsOf(orderId);
      if (deleted) {
        // Money that returned while its order was being deleted is kept.
        const deletedSightings = order.payments.map((each) => `${each.paymentId} ${sightingOf(each)}`);
        const kept = payments.map((each) => `${each.paymentId} ${sightingOf(each)}`);
        expect(kept.filter((each) => deletedSightings.includes(each))).toEqual([]);
        expect(payments.filter(({ status, confirmedAt }) => status === 'received' && confirmedAt)).toEqual([]);
        expect(both.deletedPaymentsOf(order).filter((id) => !both.isLedgerKept(id))).toEqual([]);
        return;
      }
      expect(order.payments.map(paymentView).sort(byId)).toEqual(payments.map(paymentView).sort(byId));
      expect(sumOf(payments)).toBe(payments.reduce((sum, { amountMinor }) => sum + amountMinor, 0n));
    }),
    {
      numRuns: process.env.EXTENDED ? 300 : 25,
      examples: [
        [moneyReturnsBeforeADeletion()],
        [moneyReturnsAndFailsUnseen()],
        [decisionIsLostBeforeARefund('cancel')],
        [decisionIsLostBeforeARefund('capture')],
      ],
    },
  );
}, 600_000);

test('a refund of the surplus never reverses an order, and leaves nothing of the payment to give back', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ allow, steps, ...terms }) => {
      const [orderId, merchantId] = [newId('order'), newId('merchant')];
      both.reset(false);
      both.setSmallestPayable(terms.smallestPayableMinor);
      await create(orderId, merchantId, allow, terms.tolerancePercent);
      both.setFates([]);
      for (const { step } of steps) {
        if (step.do === 'delete') continue;
        const before = both.orderOf(orderId).order;
        const answer = await act(step, orderId, merchantId);
        const isOfSurplus = step.do === 'refund' && !('amount' in step.of) && step.of.what !== 'all';
        if (!isOfSurplus || (answer as { status: number }).status !== 200) continue;
        const { payment, order } = (answer as { body: { payment: Payment; order: Order | null } }).body;
        expect(order?.status ?? before.status).toBe(before.status);
        expect(payment.due_back_amount).toBeUndefined();
        const total = both.orderOf(orderId).order.totalMinor;
        expect(total).toBe(before.totalMinor);
      }
    }),
    { numRuns: process.env.EXTENDED ? 300 : 25, examples: [[surplusAfterAnOrderRefund()]] },
  );
}, 600_000);

test('an amount above those of requests is recorded, captured and refunded', async () => {
  const [orderId, merchantId] = [newId('order'), newId('merchant')];
  both.reset(false);
  await create(orderId, merchantId, ALLOW);
  // A token can report up to 2^256 - 1 units.
  const amount = fromMinor(2n ** 256n - 1n, 6);
  const provider_id = providerIdOf(orderId, 1);
  const money = { order_id: orderId, rail: 'gateway_pay', provider_id, amount, currency: 'USDC' };
  const received = await both.payments('POST', '/payments', { ...money, confirmed: false, confirmations: 1 });
  expect(received).toMatchObject({ status: 201, body: { payment: { status: 'received', paid_amount: amount } } });
  const captured = await both.orders('POST', `/orders/${orderId}/capture`, { merchant_id: merchantId });
  expect(captured).toMatchObject({ status: 200, body: { status: 'paid' } });
  const path = `/payments/${paymentIdOf('gateway_pay', provider_id)}/refunds`;
  const refunded = await both.payments('POST', path, {
    merchant_id: merchantId,
    refund_id: newId('refund'),
    what: 'all',
  });
  expect(refunded).toMatchObject({ status: 200, body: { payment: { status: 'refunded', refunded_amount: amount } } });
  expect(refunded.body).toMatchObject({ order: { status: 'reversed' } });
});

test('money that returns under another id pays its order again, whatever is lost, late or repeated', async () => {
  const lifeOfOrder = fc.record({
    // The old id may fail before or after the new one is confirmed.
    steps: fc.constantFrom<Step[][]>(
      [confirmed(1), confirmed(4), failed(1)],
      [confirmed(1), failed(1), confirmed(4)],
      [confirmed(3), confirmed(2), confirmed(4), failed(2), failed(3)],
    ),
    fates: fc.infiniteStream(fc.array(fate, { maxLength: 3, size: 'max' })),
    relayIsBehind: fc.boolean(),
    lastDeliveries: fc.infiniteStream(fc.nat(100)),
    allow: fc
      .record({ partial_payments: fc.boolean(), can_overpay: fc.boolean() })
      .map((flags) => ({ ...ALLOW, ...flags })),
  });
  await fc.assert(
    fc.asyncProperty(lifeOfOrder, async ({ steps, fates, relayIsBehind, lastDeliveries, allow }) => {
      const [orderId, merchantId] = [newId('order'), newId('merchant')];
      both.reset(relayIsBehind);
      await create(orderId, merchantId, allow);
      for (const step of steps) {
        both.setFates(fates.next().value as CallFate[]);
        await act(step, orderId, merchantId);
      }
      await deliverAll(lastDeliveries);
      expect(both.bookDifferences(orderId)).toEqual([]);
      const { order } = both.orderOf(orderId);
      const payments = both.paymentsOf(orderId);
      expect(order.status).toBe('paid');
      expect(order.payments.map(paymentView).sort(byId)).toEqual(payments.map(paymentView).sort(byId));
      const applied = payments.reduce((sum, { appliedMinor }) => sum + appliedMinor, 0n);
      expect(applied).toBe(allow.can_overpay ? 12_000_000n : 10_000_000n);
    }),
    { numRuns: process.env.EXTENDED ? 150 : 20 },
  );
}, 600_000);

test('money of a failed payment that was deleted with its order comes back as an orphan', async () => {
  const [orderId, merchantId] = [newId('order'), newId('merchant')];
  both.reset(false);
  await create(orderId, merchantId, ALLOW);
  for (const step of [confirmed(1), failed(1), { do: 'delete' } as const, confirmed(1)])
    await act(step, orderId, merchantId);
  await deliverAll(Array<number>(100).fill(0));
  expect(both.orderOf(orderId).deleted).toBe(true);
  expect(both.paymentsOf(orderId)).toMatchObject([
    { status: 'orphan', orphanReason: 'unknown_order', merchantId, amountMinor: 10_000_000n },
  ]);
});
