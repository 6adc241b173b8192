import type { Order, PaymentEvent, PaymentOutcome } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { paymentDecider } from '../payment/payment.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { CONTEXT } from '../testing/jest-fixtures.ts';
import {
  CHANGED_AT_ISO,
  failPayment,
  ORDER_ID,
  paymentApplied,
  paymentFailed,
  paymentOrphaned,
  paymentReceived,
  paymentRefunded,
  RECEIVED_AT,
  receivePayment,
  REFUND_ID,
  refundAddressed,
  refundRequested,
  refundSent,
  refundSettled,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import { orderNotifier } from './notify-order.ts';

const NOW = new Date('2026-01-31T13:00:00.000Z');
const SEEN_AT = RECEIVED_AT.toISOString();
const block = { height: 7, hash: '0x7a' };
const stateOf = (...events: PaymentEvent[]) => fold(paymentDecider, paymentDecider.initial, events) as ExistingPayment;
const applied: PaymentOutcome = {
  status: 'applied',
  payment_id: stateOf(paymentReceived()).paymentId,
  applied_minor: '10000',
  unapplied_minor: '0',
  at: CHANGED_AT_ISO,
};
const order = { id: ORDER_ID } as Order;

/** Notifies an order, which answers with `answer`, and records the calls and outcomes. */
const notify = async (
  payment: ExistingPayment,
  {
    answer = { order, outcomes: [applied] },
    isRecorded = false,
    own = payment,
  }: {
    answer?: { order: Order; outcomes: PaymentOutcome[] } | null;
    isRecorded?: boolean;
    own?: ExistingPayment;
  } = {},
) => {
  const calls: unknown[][] = [];
  const outcomes: PaymentOutcome[] = [];
  const answerTo =
    (name: string) =>
    async (...call: unknown[]) => {
      calls.push([name, ...call.slice(0, -1)]);
      return answer;
    };
  const result = await orderNotifier({
    commands: {
      recordOutcomes: async (recorded) => {
        outcomes.push(...recorded);
        return recorded.length > 0 ? [stateOf(paymentReceived({ paymentId: 'pay_other' })), own] : [];
      },
    },
    orders: {
      summary: async () => null,
      offer: answerTo('offer'),
      fail: answerTo('fail'),
      refund: answerTo('refund'),
    },
    isOrderRecorded: async (orderId) => isRecorded && orderId === ORDER_ID,
    now: () => NOW,
  })(payment, CONTEXT);
  return { calls, outcomes, ...result };
};

describe('an order is told the state of its payment', () => {
  const mined = [paymentReceived({ block, confirmations: 2 }), paymentFailed];
  const seenAgain = paymentDecider.decide(receivePayment({ block }), stateOf(...mined));
  const failedAgain = paymentDecider.decide(failPayment, stateOf(...mined, ...seenAgain));

  test.each<[string, PaymentEvent[], unknown[]]>([
    ['received', [paymentReceived({ confirmed: false })], ['offer', ORDER_ID, { seen_at: SEEN_AT }]],
    ['confirmed', [paymentReceived()], ['offer', ORDER_ID, { seen_at: SEEN_AT, confirmed_at: SEEN_AT }]],
    [
      'seen again in another block',
      [...mined, ...seenAgain],
      ['offer', ORDER_ID, { seen_at: SEEN_AT, confirmed_at: SEEN_AT, sighting: 2, block_changes: 1 }],
    ],
    [
      'failed',
      [paymentReceived(), paymentFailed],
      ['fail', ORDER_ID, { seen_at: SEEN_AT, confirmed_at: SEEN_AT, failure_reason: 'reorg', at: CHANGED_AT_ISO }],
    ],
    [
      'failed again',
      [...mined, ...seenAgain, ...failedAgain],
      ['fail', ORDER_ID, { sighting: 2, block_changes: 1, failure_reason: 'reorg', at: CHANGED_AT_ISO }],
    ],
    [
      'refunded in part, twice',
      [paymentReceived(), paymentApplied, paymentRefunded('1'), paymentRefunded('2', '3', SECOND_REFUND_ID)],
      [
        'refund',
        ORDER_ID,
        applied.payment_id,
        { refund_id: SECOND_REFUND_ID, refunded_total_minor: '3', at: CHANGED_AT_ISO },
      ],
    ],
    [
      'refunded by the smallest amount',
      [paymentReceived(), paymentApplied, paymentRefunded('1')],
      ['refund', ORDER_ID, applied.payment_id, { refund_id: REFUND_ID, refunded_total_minor: '1', at: CHANGED_AT_ISO }],
    ],
    [
      'refunded on its chain after a newer refund was recorded',
      [
        paymentReceived(),
        paymentApplied,
        refundRequested('2'),
        refundAddressed,
        refundSent,
        paymentRefunded('1', '1', SECOND_REFUND_ID),
        refundSettled('2', '3'),
      ],
      ['refund', ORDER_ID, applied.payment_id, { refund_id: REFUND_ID, refunded_total_minor: '3', at: CHANGED_AT_ISO }],
    ],
    [
      'refunded in part, while a requested refund is pending',
      [paymentReceived(), paymentApplied, paymentRefunded('1'), refundRequested('2', SECOND_REFUND_ID)],
      ['refund', ORDER_ID, applied.payment_id, { refund_id: REFUND_ID, refunded_total_minor: '1', at: CHANGED_AT_ISO }],
    ],
    [
      'refunded while it was an orphan',
      [paymentReceived(), paymentOrphaned(), paymentRefunded('10000')],
      ['refund', ORDER_ID, applied.payment_id, { refund_id: REFUND_ID, refunded_total_minor: '10000' }],
    ],
    [
      'refunded in part, and then seen again after a failure',
      [
        paymentReceived(),
        paymentApplied,
        paymentRefunded('1'),
        paymentFailed,
        ...paymentDecider.decide(receivePayment(), stateOf(paymentReceived(), paymentFailed)),
      ],
      ['offer', ORDER_ID, { sighting: 2 }],
    ],
  ])('%s', async (_case, events, call) => {
    const { calls } = await notify(stateOf(...events));
    expect(calls).toMatchObject([call]);
    const said = Object.keys(calls[0]!.at(-1) as object).filter(
      (key) => (calls[0]!.at(-1) as never)[key] !== undefined,
    );
    for (const key of ['sighting', 'block_changes'])
      expect([key, said.includes(key)]).toEqual([key, key in (call.at(-1) as object)]);
  });
});

test('the answer is the payment after the decision, and its order', async () => {
  const own = stateOf(paymentReceived(), paymentApplied);
  const { outcomes, ...answer } = await notify(stateOf(paymentReceived()), { own });
  expect(outcomes).toEqual([applied]);
  expect(answer).toMatchObject({ payment: own, order });
});

describe('without an order', () => {
  const orphan = {
    status: 'orphan',
    payment_id: applied.payment_id,
    orphan_reason: 'unknown_order',
    at: NOW.toISOString(),
  };

  test('a confirmed payment becomes an orphan', async () => {
    const payment = stateOf(paymentReceived());
    const { outcomes, order: none } = await notify(payment, { answer: null });
    expect([outcomes, none]).toEqual([[{ ...orphan, sighting: undefined }], null]);
  });
  test('a payment that is not confirmed, and a decided one, stay as they are', async () => {
    for (const events of [[paymentReceived({ confirmed: false })], [paymentReceived(), paymentOrphaned()]]) {
      const payment = stateOf(...events);
      expect(await notify(payment, { answer: null })).toMatchObject({ outcomes: [], payment, order: null });
    }
  });
  test('nobody is asked about unclaimed money', async () => {
    const unclaimed = stateOf(paymentReceived({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }));
    expect(await notify(unclaimed, { isRecorded: true })).toMatchObject({ calls: [], outcomes: [], order: null });
  });
  test('an order that the event store has is not gone: the address of orders is wrong', () =>
    expect(notify(stateOf(paymentReceived()), { answer: null, isRecorded: true })).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('check ORDERS_URL'),
      answeredBy: 'orders',
    }));
});
