import type { PaymentEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  CHANGED_AT_ISO,
  paymentApplied,
  ORDER_ID,
  paymentFailed,
  paymentOrphaned,
  paymentReceived,
  paymentRefunded,
  RECEIVED_AT,
  REFUND_ID,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import { paymentDecider } from './payment.ts';
import { evolve, type ExistingPayment, type Payment } from './state.ts';

const stateOf = (...events: PaymentEvent[]) => fold(paymentDecider, paymentDecider.initial, events) as ExistingPayment;

const EARLIER = new Date(RECEIVED_AT.getTime() + 1_000).toISOString();
const at = (instant: string, { type, data }: PaymentEvent) =>
  ({ type, data: { ...data, at: instant } }) as PaymentEvent;

test.each([
  ['failure', paymentFailed],
  ['partial refund', paymentRefunded('1')],
  ['full refund', paymentRefunded('10000')],
])('a %s by a slower clock does not move `updated_at` back', (_, event) => {
  const events = [paymentReceived(), paymentApplied, at(EARLIER, event)];
  expect(stateOf(...events).updatedAt).toBe(CHANGED_AT_ISO);
});

const AT = RECEIVED_AT.toISOString();
const received = {
  paymentId: 'pay_01J0000000000000000000000B',
  merchantId: 'mer_01J0000000000000000000000C',
  orderId: ORDER_ID,
  rail: 'crypto_deposit',
  providerId: 'bip122:000000000933ea01ad0ee984209779ba/f00d:0',
  currency: 'BTC',
  amountMinor: 10_000n,
  feeMinor: 100n,
  appliedMinor: 0n,
  unappliedMinor: 0n,
  refundedMinor: 0n,
  status: 'received',
  refunds: [],
  seenAt: AT,
  createdAt: AT,
  updatedAt: AT,
};

test('a received payment has the amounts of its report, and nothing is applied yet', () => {
  const confirmed = stateOf(paymentReceived());
  expect(confirmed).toMatchObject({ ...received, confirmedAt: AT });
  expect(confirmed).not.toHaveProperty('feeSchedule');
  expect(stateOf(paymentReceived({ confirmed: false }))).toMatchObject({ ...received, confirmedAt: undefined });
});

const RETURNED = { txHash: 'f00d', network: 'bitcoin', destination: 'bc1q' };

test('each refund of a payment is kept, oldest first', () => {
  const reason = 'a broken cup';
  const first = paymentRefunded('4000');
  const withReason = { ...first, data: { ...first.data, reason, ...RETURNED } } as PaymentEvent;
  expect(
    stateOf(paymentReceived(), paymentApplied, withReason, paymentRefunded('6000', '10000', SECOND_REFUND_ID)).refunds,
  ).toEqual([
    { refundId: REFUND_ID, status: 'recorded', amountMinor: 4_000n, reason, ...RETURNED, at: CHANGED_AT_ISO },
    { refundId: SECOND_REFUND_ID, status: 'recorded', amountMinor: 6_000n, at: CHANGED_AT_ISO },
  ]);
});

test('an orphan that is assigned to an order is received again, and waits for its decision', () => {
  const assigned: PaymentEvent = {
    type: 'PaymentAssigned',
    data: {
      merchantId: 'mer_01J0000000000000000000000P',
      orderId: 'ord_01J0000000000000000000000Q',
      reason: 'asked for',
      by: 'ana',
      sighting: 2,
      seenAt: AT,
      confirmedAt: AT,
      at: CHANGED_AT_ISO,
    },
  };
  expect(stateOf(paymentReceived(), paymentOrphaned('unknown_order'), assigned)).toMatchObject({
    ...received,
    merchantId: 'mer_01J0000000000000000000000P',
    orderId: 'ord_01J0000000000000000000000Q',
    reportedOrderId: ORDER_ID,
    orphanReason: undefined,
    sighting: 2,
    updatedAt: CHANGED_AT_ISO,
  });
});

test('an event before the receipt of a payment changes nothing', () => {
  const none: Payment = { status: 'none' };
  for (const event of [paymentApplied, paymentFailed, paymentRefunded('1')]) expect(evolve(none, event)).toBe(none);
});
