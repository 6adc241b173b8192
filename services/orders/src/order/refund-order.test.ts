import { AppError, fromMinor, type OrderEvent, paymentBreakdown } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import fc from 'fast-check';
import { cancel, dueAt, expireAt, fail, refund } from '../testing/jest-deciding.ts';
import { createOrder, minutesAfterNoon, NOON, offer, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { splitRefund } from './refund-order.ts';
import { appliedMinor, type ExistingOrder, exists, findPayment, type Order, remainingMinor } from './state.ts';
import { orderView } from './view.ts';

const idOf = (n: number) => `orf_${String(n).padStart(26, '0')}`;
const at = minutesAfterNoon(30);

const decided = (order: Order, command: OrderCommand): { events: OrderEvent[]; order: Order } => {
  const events = orderDecider.decide(command, order);
  return { events, order: fold(orderDecider, order, events) };
};

/** The order after these commands. */
const after = (...commands: OrderCommand[]): ExistingOrder => {
  const order = commands.reduce((current, command) => decided(current, command).order, orderDecider.initial);
  if (!exists(order)) throw new Error('the order does not exist');
  return order;
};

/** What payments would say of the payments of the order. */
const refundableOf = (order: ExistingOrder) =>
  order.payments.map((payment) => ({
    payment_id: payment.paymentId,
    left_minor: String(paymentBreakdown(payment).applied),
    recorded_parts: order.refunds.flatMap(({ parts }) =>
      parts
        .filter((part) => part.paymentId === payment.paymentId && (payment.orderRefundedMinor ?? 0n) > 0n)
        .map(({ refundId }) => refundId),
    ),
  }));

const refundOrder = (order: ExistingOrder, amount: string, more: object = {}) =>
  ({ type: 'RefundOrder', orderRefundId: idOf(1), amount, refundable: refundableOf(order), at, ...more }) as const;

/** Records the parts of the last refund on the payments, as payments reports them. */
const withParts = (order: ExistingOrder): ExistingOrder =>
  order.refunds.at(-1)!.parts.reduce((current, part) => {
    const payment = findPayment(current, part.paymentId)!;
    const command = {
      type: 'RefundPayment',
      paymentId: part.paymentId,
      refundId: part.refundId,
      refundedTotalMinor: payment.refundedMinor + part.amountMinor,
      orderRefundedTotalMinor: (payment.orderRefundedMinor ?? 0n) + part.amountMinor,
      refundedAt: at,
      at,
    } as const;
    return decided(current, command).order as ExistingOrder;
  }, order);

/** The order after a refund of it that its payments have recorded. */
const refunded = (order: ExistingOrder, amount: string, more: object = {}): ExistingOrder =>
  withParts(decided(order, refundOrder(order, amount, more)).order as ExistingOrder);

const refusal = (order: ExistingOrder, command: OrderCommand): AppError => {
  try {
    orderDecider.decide(command, order);
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('the command was not refused');
};

const sixAndFour = [createOrder(), offer(1, 6_000_000n), offer(2, 4_000_000n)];
const withSurplus = [createOrder(), offer(1, 12_000_000n)];
const inMxn = createOrder({
  items: [{ name: 'tea', quantity: 1, unit_price: '200', currency: 'MXN' }],
  rates: { MXN: { rate: '0.05', source: 'test', quoted_at: NOON.toISOString(), expires_at: NOON.toISOString() } },
});

describe('the split of a refund', () => {
  const left = fc.array(fc.record({ paymentId: fc.uuid(), leftMinor: fc.bigInt(0n, 10n ** 20n) }), { maxLength: 8 });

  test('adds up to the amount, takes no more than is left, and takes from the first payments', () =>
    fc.assert(
      fc.property(left, fc.nat(1_000), (payments, share) => {
        const total = payments.reduce((sum, { leftMinor }) => sum + leftMinor, 0n);
        const amountMinor = (total * BigInt(share)) / 1_000n;
        const parts = splitRefund(amountMinor, payments);
        expect(parts.reduce((sum, part) => sum + part.amountMinor, 0n)).toBe(amountMinor);
        const takenOf = (id: string) => parts.find((part) => part.paymentId === id)?.amountMinor ?? 0n;
        for (const part of parts) expect(part.amountMinor).toBeGreaterThan(0n);
        for (const { paymentId: id, leftMinor } of payments) expect(takenOf(id)).toBeLessThanOrEqual(leftMinor);
        const untouched = payments.findIndex(({ paymentId: id, leftMinor }) => takenOf(id) < leftMinor);
        if (untouched >= 0) for (const { paymentId: id } of payments.slice(untouched + 1)) expect(takenOf(id)).toBe(0n);
        expect(splitRefund(amountMinor, payments)).toEqual(parts);
      }),
    ));
});

describe('a refund of an order', () => {
  test('takes from the newest payment first, and leaves the order paid', () => {
    const order = refunded(after(...sixAndFour), '5');
    expect(order).toMatchObject({ status: 'paid' });
    expect(remainingMinor(order)).toBe(0n);
    expect(order.payments).toMatchObject([
      { status: 'applied', refundedMinor: 1_000_000n },
      { status: 'refunded', refundedMinor: 4_000_000n },
    ]);
    expect(orderView(order).shortfall_amount).toBeUndefined();
    expect(orderView(order).refunds).toMatchObject([
      {
        id: idOf(1),
        amount: '5.000000',
        parts: [
          { payment_id: paymentId(2), amount: '4.000000' },
          { payment_id: paymentId(1), amount: '1.000000' },
        ],
      },
    ]);
  });

  test('reverses the order once all that is applied is refunded, over several refunds', () => {
    const most = refunded(after(...sixAndFour), '9.999999');
    expect(most.status).toBe('paid');
    const all = refunded(most, '0.000001', { orderRefundId: idOf(2) });
    expect(all).toMatchObject({ status: 'reversed', statusReason: 'payment_refunded' });
    expect(remainingMinor(all)).toBe(10_000_000n);
  });

  test('never takes the surplus, which a capture can still apply', () => {
    const order = refunded(after(...withSurplus), '10');
    expect(order.status).toBe('reversed');
    expect(orderView(order)).toMatchObject({
      due_back_amount: '2.000000',
      payments: [{ applied_amount: '0.000000', unapplied_amount: '2.000000', refunded_amount: '10.000000' }],
    });
    const captured = decided(order, { type: 'CapturePayments', at }).order as ExistingOrder;
    expect(appliedMinor(captured)).toBe(2_000_000n);
    expect(orderView(captured)).toMatchObject({
      remaining_amount: '8.000000',
      payments: [{ applied_amount: '2.000000', unapplied_amount: '0.000000' }],
    });
    expect(refusal(after(...withSurplus), refundOrder(after(...withSurplus), '10.000001')).code).toBe(
      'refund_too_large',
    );
  });

  test('is ignored when it is repeated, whatever the repeat says', () => {
    const order = after(...sixAndFour);
    const once = decided(order, refundOrder(order, '5')).order as ExistingOrder;
    expect(decided(once, refundOrder(once, '7')).events).toEqual([]);
  });

  test('counts the parts of an earlier one that no payment has recorded yet', () => {
    const order = after(...sixAndFour);
    const first = decided(order, refundOrder(order, '7')).order as ExistingOrder;
    const second = { ...refundOrder(order, '4'), orderRefundId: idOf(2) };
    expect(refusal(first, second).message).toContain('only 3.000000 USDC');
    expect(decided(first, { ...second, amount: '3' }).events).toMatchObject([{ data: { amountMinor: '3000000' } }]);
  });

  test('is refused while the order takes payments, and where nothing is applied', () => {
    const open = after(createOrder(), offer(1, 6_000_000n));
    expect(refusal(open, refundOrder(open, '1')).code).toBe('order_state_conflict');
    const canceled = after(createOrder(), offer(1, 6_000_000n), cancel);
    expect(refusal(canceled, refundOrder(canceled, '1')).code).toBe('nothing_to_refund');
  });

  test('names a refund that reserves what is left', () => {
    const order = after(...sixAndFour);
    const leaving = (left_minor: string) => ({
      refundable: [{ payment_id: paymentId(1), left_minor, recorded_parts: [], open_refund: 'rfd_1' }],
    });
    expect(refusal(order, refundOrder(order, '1', leaving('0')))).toMatchObject({
      code: 'nothing_to_refund',
      message: expect.stringContaining('cancel rfd_1 while it is pending'),
    });
    expect(refusal(order, refundOrder(order, '1', leaving('900000'))).message).toBe(
      'only 0.900000 USDC of what is applied to the order can still be refunded, because requested refunds, as rfd_1, reserve the rest',
    );
  });

  test('leaves what it gave back as paid when another payment fails', () => {
    const order = refunded(after(...sixAndFour), '4');
    const reversed = decided(order, fail(1, 6_000_000n)).order as ExistingOrder;
    expect(reversed.status).toBe('reversed');
    expect(remainingMinor(reversed)).toBe(6_000_000n);
    expect(after(...sixAndFour).status).toBe('paid');
    expect((decided(reversed, offer(3, 6_000_000n, { at })).order as ExistingOrder).status).toBe('paid');
  });

  test('leaves the order paid when the surplus is refunded, also if nothing is left of that payment then', () => {
    const order = refunded(after(createOrder(), offer(1, 6_000_000n), offer(2, 10_000_000n)), '9.5');
    const surplus = decided(order, refund(2, 10_000_000n, at)).order as ExistingOrder;
    expect(surplus).toMatchObject({ status: 'paid', payments: [{ status: 'applied' }, { status: 'refunded' }] });
    expect(appliedMinor(surplus)).toBe(10_000_000n);
    const rest = refunded(surplus, '0.5', { orderRefundId: idOf(2) });
    expect(rest.status).toBe('reversed');
    expect(appliedMinor(rest)).toBe(0n);
  });

  test('leaves the order paid by the last unit of a payment whose surplus is refunded', () => {
    const order = refunded(after(createOrder(), offer(1, 9_999_999n), offer(2, 10_000_000n)), '0.000001');
    const surplus = decided(order, refund(2, 10_000_000n, at)).order as ExistingOrder;
    expect(surplus).toMatchObject({ status: 'paid', payments: [{ status: 'applied' }, { status: 'refunded' }] });
    expect(appliedMinor(surplus)).toBe(10_000_000n);
  });

  test('takes each of its parts once out of an order that ended before it was paid', () => {
    const order = after(createOrder(), offer(1, 6_000_000n), expireAt(dueAt));
    const once = refunded(order, '1');
    expect(appliedMinor(once)).toBe(5_000_000n);
    const twice = refunded(once, '2', { orderRefundId: idOf(2) });
    expect([appliedMinor(twice), remainingMinor(twice)]).toEqual([3_000_000n, 7_000_000n]);
  });

  test('does not keep a refund of a payment from reversing the order', () => {
    const order = refunded(after(...sixAndFour), '5');
    const whole = decided(order, refund(1, 6_000_000n, at)).order as ExistingOrder;
    expect(whole).toMatchObject({ status: 'reversed' });
  });
});

describe('an amount in an item currency', () => {
  const order = after(inMxn, offer(1, 10_000_000n));

  test('is converted by the locked rate, and rounded up', () => {
    const event = decided(order, refundOrder(order, '33.33', { currency: 'MXN' })).events[0];
    expect(event).toMatchObject({
      data: { amountMinor: '1666500', requestedAmount: '33.33', requestedCurrency: 'MXN' },
    });
    const odd = { ...inMxn, rates: { MXN: { ...inMxn.rates.MXN!, rate: '0.0500001' } } };
    const rounded = after(odd, offer(1, 10_000_000n));
    expect(decided(rounded, refundOrder(rounded, '0.01', { currency: 'MXN' })).events[0]).toMatchObject({
      data: { amountMinor: '501' },
    });
  });

  test('names what is left in both currencies when it is too large', () => {
    const { code, message } = refusal(order, refundOrder(order, '200.01', { currency: 'MXN' }));
    expect(code).toBe('refund_too_large');
    expect(message).toContain('only 10.000000 USDC (200.00 MXN) of what');
  });

  test('refuses a currency that the order does not have, and too many decimals', () => {
    expect(refusal(order, refundOrder(order, '1', { currency: 'EUR' })).details).toMatchObject([{ path: 'currency' }]);
    expect(refusal(order, refundOrder(order, '1.001', { currency: 'MXN' })).details).toMatchObject([
      { path: 'amount' },
    ]);
  });

  test('refunds the whole order in any pieces that add up to its price', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 10 ** 5, max: 10 ** 9 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 19_999 }), { maxLength: 6 }),
        (rateUnits, cuts) => {
          const rate = fromMinor(BigInt(rateUnits), 9);
          const totalMinor = (200n * BigInt(rateUnits) + 999n) / 1_000n;
          const odd = createOrder({ items: inMxn.items, rates: { MXN: { ...inMxn.rates.MXN!, rate } }, totalMinor });
          const ends = [...cuts.sort((one, other) => one - other), 20_000];
          const pieces = ends.map((end, index) => end - (ends[index - 1] ?? 0));
          let current = after(odd, offer(1, totalMinor));
          for (const [index, piece] of pieces.entries()) {
            if (current.status !== 'paid') break;
            const amount = fromMinor(BigInt(piece), 2);
            current = refunded(current, amount, { currency: 'MXN', orderRefundId: idOf(index + 1) });
          }
          expect(current.status).toBe('reversed');
          const sum = current.refunds.reduce((total, { amountMinor }) => total + amountMinor, 0n);
          expect(sum).toBe(totalMinor);
        },
      ),
    ));
});
