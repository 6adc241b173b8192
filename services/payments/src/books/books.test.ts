import type { OrderEvent, PaymentEvent } from '@cpg/contracts';
import type { DomainEvent, Recorded } from '@cpg/event-sourcing';
import { METADATA } from '@cpg/event-sourcing/testing';
import { compareBooks, orderBookOf, paymentBookOf } from './books.ts';

const AT = '2026-01-31T12:00:00.000Z';
const [ORDER, OTHER] = ['ord_01J0000000000000000000000A', 'ord_01J0000000000000000000000B'];
const PAYMENT = 'pay_01J0000000000000000000000B';
const MERCHANT = 'mer_01J0000000000000000000000C';

const recordedOf = <E extends DomainEvent>(events: readonly E[]): Recorded<E>[] =>
  events.map((event, revision) => ({ stream: 'x', revision, id: `evt_${revision}`, event, metadata: METADATA }));

const created = { type: 'OrderCreated', data: { orderId: ORDER, currency: 'USDC', decimals: 6, at: AT } } as OrderEvent;
const offered = (changes: object = {}): OrderEvent => ({
  type: 'OrderPaymentReceived',
  data: {
    payment: {
      paymentId: PAYMENT,
      rail: 'gateway_pay',
      providerId: 'tx-1',
      currency: 'USDC',
      decimals: 6,
      amountMinor: '12',
      feeMinor: '0',
      seenAt: AT,
      receivedAt: AT,
      ...changes,
    },
    confirmed: true,
    at: AT,
  },
});
const orderApplied = (appliedMinor: string, unappliedMinor: string): OrderEvent => ({
  type: 'OrderPaymentsApplied',
  data: { allocations: [{ paymentId: PAYMENT, appliedMinor, unappliedMinor }], status: 'paid', reason: 'r', at: AT },
});
const orderRefunded = (refundedTotalMinor: string, appliedMinor?: string): OrderEvent => ({
  type: 'OrderPaymentRefunded',
  data: {
    paymentId: PAYMENT,
    refundId: 'rfd_01J0000000000000000000000D',
    refundedTotalMinor,
    refundedAt: AT,
    ...(appliedMinor !== undefined && { appliedMinor }),
    status: 'partially_paid',
    reason: 'r',
    at: AT,
  },
});
const orderFailed: OrderEvent = {
  type: 'OrderPaymentFailed',
  data: {
    paymentId: PAYMENT,
    failureReason: 'reorg',
    failedAt: AT,
    status: 'reversed',
    reason: 'payment_failed',
    at: AT,
  },
};
const orderDeleted: OrderEvent = { type: 'OrderDeleted', data: { reason: 'r', at: AT } };

const received = (changes: object = {}): PaymentEvent => ({
  type: 'PaymentReceived',
  data: {
    paymentId: PAYMENT,
    merchantId: MERCHANT,
    orderId: ORDER,
    rail: 'gateway_pay',
    providerId: 'tx-1',
    currency: 'USDC',
    decimals: 6,
    amountMinor: '12',
    feeMinor: '0',
    feeSchedule: '1',
    confirmed: true,
    seenAt: AT,
    at: AT,
    ...changes,
  },
});
const applied = (appliedMinor: string, unappliedMinor: string, orderId = ORDER): PaymentEvent => ({
  type: 'PaymentApplied',
  data: { orderId, appliedMinor, unappliedMinor, at: AT },
});
const refunded = (refundedTotalMinor: string): PaymentEvent => ({
  type: 'PaymentRefunded',
  data: { refundId: 'rfd_01J0000000000000000000000D', amountMinor: '1', refundedTotalMinor, at: AT },
});
const failed: PaymentEvent = { type: 'PaymentFailed', data: { failureReason: 'reorg', seenAt: AT, at: AT } };
const orphaned: PaymentEvent = { type: 'PaymentOrphaned', data: { orphanReason: 'late', at: AT } };

const orderOrphaned: OrderEvent = {
  type: 'OrderPaymentsOrphaned',
  data: { paymentIds: [PAYMENT], orphanReason: 'late', at: AT },
};
const ended = { orphanedPaymentIds: [PAYMENT], reason: 'r', at: AT };
const orderExpired: OrderEvent = { type: 'OrderExpired', data: { ...ended, status: 'expired' } };
const orderCanceled: OrderEvent = { type: 'OrderCanceled', data: { ...ended, status: 'canceled' } };
const again = { sighting: 2, confirmed: false, at: AT };
const orderReinstated: OrderEvent = {
  type: 'OrderPaymentReinstated',
  data: { paymentId: PAYMENT, reinstatedAt: AT, ...again },
};
const reinstated: PaymentEvent = { type: 'PaymentReinstated', data: { seenAt: AT, ...again } };

const ORDER_EVENTS = [created, offered(), orderApplied('10', '2')];
const PAYMENT_EVENTS = [received(), applied('10', '2')];

const differences = (order: OrderEvent[] | null, payment: PaymentEvent[] | null) =>
  compareBooks(
    orderBookOf(ORDER, order && recordedOf(order)),
    new Map([[PAYMENT, paymentBookOf(payment && recordedOf(payment))]]),
  );

test.each<[string, OrderEvent[] | null, PaymentEvent[] | null]>([
  ['a payment that is applied', ORDER_EVENTS, PAYMENT_EVENTS],
  ['a payment that neither applied', [created, offered()], [received()]],
  [
    'a later application with a larger amount',
    [...ORDER_EVENTS, orderApplied('12', '0')],
    [...PAYMENT_EVENTS, applied('12', '0')],
  ],
  ['a refund of the surplus', [...ORDER_EVENTS, orderRefunded('2')], [...PAYMENT_EVENTS, refunded('2')]],
  [
    'a refund of an applied part, which the order alone takes out',
    [...ORDER_EVENTS, orderRefunded('5', '7')],
    [...PAYMENT_EVENTS, refunded('5')],
  ],
  ['a refund of all', [...ORDER_EVENTS, orderRefunded('12')], [...PAYMENT_EVENTS, refunded('12')]],
  ['a failure', [...ORDER_EVENTS, orderFailed], [...PAYMENT_EVENTS, failed]],
  ['an orphan', [created, offered(), orderOrphaned], [received(), orphaned]],
  ['an orphan of an expired order', [created, offered(), orderExpired], [received(), orphaned]],
  ['an orphan of a canceled order', [...ORDER_EVENTS, orderCanceled], [...PAYMENT_EVENTS, orphaned]],
  [
    'money that was seen again',
    [...ORDER_EVENTS, orderFailed, orderReinstated],
    [...PAYMENT_EVENTS, failed, reinstated],
  ],
  [
    'a refund before a later application',
    [...ORDER_EVENTS, orderRefunded('2'), orderApplied('10', '2')],
    [...PAYMENT_EVENTS, refunded('2'), applied('10', '2')],
  ],
  ['a failure of a payment that the order never received', [created, orderFailed], [received()]],
  ['an orphan beyond the payments that an order records', [created], [received(), orphaned]],
  ['a payment that its order does not know yet', [created], [received()]],
  ['a deleted order with its payments', null, null],
  ['an order that is being deleted, and its deleted payment', [...ORDER_EVENTS, orderDeleted], null],
  ['an orphan of a deleted order', null, [received(), orphaned]],
  ['a failed payment that was deleted with its order', null, [received(), failed]],
  [
    'an event of a newer version',
    [...ORDER_EVENTS, { type: 'OrderBlessed', data: { at: AT } } as never],
    PAYMENT_EVENTS,
  ],
])('finds no difference in %s', (_, order, payment) => {
  expect(differences(order, payment)).toEqual([]);
});

const ofPayment = `payment-${PAYMENT}`;
const ofOrder = `order-${ORDER}`;

test.each<[string, OrderEvent[] | null, PaymentEvent[] | null, string, string]>([
  [
    'a payment without a stream',
    ORDER_EVENTS,
    [],
    'missing',
    `${ofOrder}, event 2: status is applied, but ${ofPayment} does not exist`,
  ],
  [
    'a payment that was deleted without its order',
    ORDER_EVENTS,
    null,
    'missing',
    `${ofOrder}, event 2: status is applied, but ${ofPayment} is deleted`,
  ],
  [
    'a payment that says it is applied to an order that does not name it',
    [created],
    PAYMENT_EVENTS,
    'unnamed',
    `${ofPayment}, event 1: status is applied, but ${ofOrder} does not name the payment`,
  ],
  [
    'a payment that is applied to an order that does not exist',
    [],
    PAYMENT_EVENTS,
    'unnamed',
    `${ofPayment}, event 1: status is applied, but ${ofOrder} does not exist`,
  ],
  [
    'a payment that is applied to a deleted order',
    null,
    PAYMENT_EVENTS,
    'unnamed',
    `${ofPayment}, event 1: status is applied, but ${ofOrder} is deleted`,
  ],
  [
    'a payment that is applied to another order',
    ORDER_EVENTS,
    [received(), applied('10', '2', OTHER)],
    'order',
    `${ofPayment}, event 1: orderId is ${OTHER}, but ${ORDER} by ${ofOrder}, event 1`,
  ],
  [
    'another currency',
    ORDER_EVENTS,
    [received({ currency: 'USDT' }), applied('10', '2')],
    'currency',
    `${ofPayment}, event 0: currency is USDT, but USDC by ${ofOrder}, event 1`,
  ],
  [
    'other decimals',
    ORDER_EVENTS,
    [received({ decimals: 18 }), applied('10', '2')],
    'currency',
    `${ofPayment}, event 0: decimals is 18, but 6 by ${ofOrder}, event 1`,
  ],
  [
    'money of other decimals than those of the order',
    [created, offered({ decimals: 18 }), orderApplied('10', '2')],
    [received({ decimals: 18 }), applied('10', '2')],
    'currency',
    `${ofPayment}, event 0: decimals is 18, but 6 by ${ofOrder}, event 2`,
  ],
  [
    'money of another currency than that of the order',
    [created, offered({ currency: 'USDT' }), orderApplied('10', '2')],
    [received({ currency: 'USDT' }), applied('10', '2')],
    'currency',
    `${ofPayment}, event 0: currency is USDT, but USDC by ${ofOrder}, event 2`,
  ],
  [
    'another amount',
    ORDER_EVENTS,
    [received({ amountMinor: '120' }), applied('10', '2')],
    'amount',
    `${ofPayment}, event 0: amountMinor is 120, but 12 by ${ofOrder}, event 1`,
  ],
  [
    'another applied amount',
    ORDER_EVENTS,
    [received(), applied('12', '0')],
    'amount',
    `${ofPayment}, event 1: appliedMinor is 12, but 10 by ${ofOrder}, event 2`,
  ],
  [
    'an applied amount above the payment',
    ORDER_EVENTS,
    [received(), applied('11', '2')],
    'amount',
    `${ofPayment}, event 1: appliedMinor is 11, but 10 by ${ofOrder}, event 2`,
  ],
  [
    'an application that the payment did not follow',
    [...ORDER_EVENTS, orderApplied('12', '0')],
    PAYMENT_EVENTS,
    'amount',
    `${ofPayment}, event 1: appliedMinor is 10, but 12 by ${ofOrder}, event 3`,
  ],
  [
    'an application of a payment that the order never received',
    [created, orderApplied('10', '2')],
    [received()],
    'status',
    `${ofPayment}, event 0: status is received, but applied by ${ofOrder}, event 1`,
  ],
  [
    'a failure that the order does not know',
    ORDER_EVENTS,
    [...PAYMENT_EVENTS, failed],
    'status',
    `${ofPayment}, event 2: status is failed, but applied by ${ofOrder}, event 2`,
  ],
  [
    'a failure that the payment does not know',
    [...ORDER_EVENTS, orderFailed],
    PAYMENT_EVENTS,
    'status',
    `${ofPayment}, event 1: status is applied, but failed by ${ofOrder}, event 3`,
  ],
  [
    'an orphan that the order applied',
    ORDER_EVENTS,
    [received(), orphaned],
    'status',
    `${ofPayment}, event 1: status is orphan, but applied by ${ofOrder}, event 2`,
  ],
  [
    'a refund that the order does not know',
    ORDER_EVENTS,
    [...PAYMENT_EVENTS, refunded('1')],
    'refund',
    `${ofPayment}, event 2: refundedMinor is 1, but 0 by ${ofOrder}, event 1`,
  ],
])('finds %s', (_, order, payment, kind, text) => {
  expect(differences(order, payment)).toContainEqual({ kind, orderId: ORDER, paymentId: PAYMENT, text });
});

test.each<[string, OrderEvent[], PaymentEvent[], string[]]>([
  ['an order', ORDER_EVENTS, [received({ amountMinor: '120' }), applied('7', '5', OTHER)], ['order']],
  ['an order, also after a refund', ORDER_EVENTS, [received(), applied('10', '2', OTHER), refunded('1')], ['order']],
  ['a status', ORDER_EVENTS, [...PAYMENT_EVENTS, failed], ['status']],
  ['a status and an amount', ORDER_EVENTS, [received({ amountMinor: '120' }), orphaned], ['status', 'amount']],
  ['a status alone', [created, orderApplied('10', '2')], [received()], ['status']],
  ['both shares', ORDER_EVENTS, [received(), applied('12', '0')], ['amount', 'amount']],
  ['the surplus alone', ORDER_EVENTS, [received(), applied('10', '1')], ['amount']],
  ['a payment that is not received', ORDER_EVENTS, [applied('10', '2')], ['missing']],
])('a difference of %s is reported without what follows from it', (_, order, payment, kinds) =>
  expect(differences(order, payment).map(({ kind }) => kind)).toEqual(kinds),
);

test('a payment of another order is no difference of this one', () => {
  expect(differences([created], [received({ orderId: OTHER }), applied('10', '2', OTHER)])).toEqual([]);
});
