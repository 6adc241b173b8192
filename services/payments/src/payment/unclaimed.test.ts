import { paymentBreakdown, type PaymentEvent, paymentView } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  CHANGED_AT,
  CHANGED_AT_ISO,
  confirmPayment,
  failPayment,
  given,
  ORDER_ID,
  paymentFailed,
  paymentOrphaned,
  paymentReceived,
  RECEIVED_AT,
  receivePayment,
  recordApplied,
  recordOutcome,
  REFUND_ID,
  refundPayment,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import type { AssignPayment, PaymentCommand, ReceivePayment, ReturnPayment } from './command.ts';
import { paymentDecider } from './payment.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from './state.ts';

const ADDRESS = 'bc1qunclaimed';
const OWNER = 'mer_01J0000000000000000000000P';
const RIGHT_ORDER = 'ord_01J0000000000000000000000Q';
const REASON = 'the payer sent the transaction';

const toUnknownAddress = { merchantId: UNCLAIMED_MERCHANT, orderId: ADDRESS, address: ADDRESS };
const toUnknownOrder = { merchantId: UNCLAIMED_MERCHANT };

const stateOf = (events: readonly PaymentEvent[]) =>
  fold(paymentDecider, paymentDecider.initial, events) as ExistingPayment;
/** The events of a first report, and those that the commands lead to. */
const after = (first: Partial<ReceivePayment>, ...commands: PaymentCommand[]): PaymentEvent[] =>
  [receivePayment(first), ...commands].reduce<PaymentEvent[]>(
    (events, command) => [
      ...events,
      ...paymentDecider.decide(command, fold(paymentDecider, paymentDecider.initial, events)),
    ],
    [],
  );

const assignTo = (orderId?: string, more: Partial<AssignPayment> = {}): AssignPayment => ({
  type: 'AssignPayment',
  merchantId: OWNER,
  orderId,
  reason: REASON,
  by: 'ana',
  at: CHANGED_AT,
  ...more,
});
const toOrder = assignTo(RIGHT_ORDER);
const toMerchant = assignTo();
const sentBack: ReturnPayment = {
  type: 'ReturnPayment',
  refundId: REFUND_ID,
  txHash: 'beef',
  reason: REASON,
  by: 'ana',
  at: CHANGED_AT,
};

describe('assigning unclaimed money to an order', () => {
  test('gives the payment to the order, as a new sighting that the order decides on', () => {
    given(...after(toUnknownAddress))
      .when(toOrder)
      .thenLike({
        type: 'PaymentAssigned',
        data: {
          merchantId: OWNER,
          orderId: RIGHT_ORDER,
          reason: REASON,
          by: 'ana',
          sighting: 2,
          confirmedAt: RECEIVED_AT.toISOString(),
        },
      });
    expect(paymentView(stateOf(after(toUnknownAddress, toOrder)))).toMatchObject({
      merchant_id: OWNER,
      order_id: RIGHT_ORDER,
      status: 'received',
      paid_amount: '0.00010000',
      updated_at: CHANGED_AT_ISO,
    });
  });

  test('records what the order decides, to the last minor unit', () => {
    const applied = recordOutcome({
      status: 'applied',
      sighting: 2,
      appliedMinor: 9_999n,
      unappliedMinor: 1n,
      at: CHANGED_AT,
    });
    const payment = stateOf(after(toUnknownOrder, toOrder, applied));
    expect(payment).toMatchObject({ status: 'applied', appliedMinor: 9_999n, unappliedMinor: 1n });
    const { applied: took, unapplied } = paymentBreakdown(payment);
    expect(took + unapplied).toBe(10_000n);
  });

  test('ignores a late answer that no order was known', () => {
    const unknown = recordOutcome({ status: 'orphan', orphanReason: 'unknown_order', at: CHANGED_AT });
    given(...after(toUnknownOrder, toOrder))
      .when(unknown)
      .thenNothing();
    given(...after(toUnknownOrder, toOrder))
      .when(recordApplied)
      .thenNothing();
  });

  test('keeps the payment when its rail reports it again, with the order that it named at first', () => {
    const events = after(toUnknownOrder, toOrder);
    given(...events)
      .when(receivePayment(toUnknownOrder))
      .thenNothing();
    given(...events)
      .when(receivePayment({ merchantId: OWNER, orderId: RIGHT_ORDER }))
      .thenNothing();
    given(...events)
      .when(receivePayment({ ...toUnknownOrder, orderId: 'ord_other' }))
      .thenRefused('payment_conflict');
  });
});

describe('assigning unclaimed money to a merchant', () => {
  test.each([
    [toUnknownAddress, 'unknown_address'],
    [toUnknownOrder, 'unknown_order'],
  ] as const)('makes it an orphan of the merchant: %#', (first, orphanReason) => {
    given(...after(first))
      .when(toMerchant)
      .thenLike(
        { type: 'PaymentAssigned', data: { merchantId: OWNER, sighting: 2 } },
        { type: 'PaymentOrphaned', data: { orphanReason } },
      );
    expect(paymentView(stateOf(after(first, toMerchant)))).toMatchObject({
      merchant_id: OWNER,
      status: 'orphan',
      orphan_reason: orphanReason,
    });
  });

  test('lets the merchant refund it', () =>
    given(...after(toUnknownAddress, toMerchant))
      .when(refundPayment(4_000n))
      .thenLike({ type: 'PaymentRefunded', data: { amountMinor: '4000' } }));
});

describe('returning unclaimed money', () => {
  test('refunds the whole of it, with the transaction, the reason and the person', () => {
    given(...after(toUnknownAddress))
      .when(sentBack)
      .thenLike({
        type: 'PaymentRefunded',
        data: { amountMinor: '10000', refundedTotalMinor: '10000', reason: REASON, by: 'ana', txHash: 'beef' },
      });
    expect(stateOf(after(toUnknownAddress, sentBack))).toMatchObject({ status: 'refunded', refundedMinor: 10_000n });
  });
});

describe('unclaimed money is resolved once', () => {
  const resolutions = [toOrder, toMerchant, sentBack];
  test.each(resolutions)('a repeat changes nothing: %#', (resolution) => {
    const events = after(toUnknownAddress, resolution);
    given(...events)
      .when({ ...resolution, reason: 'again', by: 'ben' })
      .thenNothing();
    given(...events, paymentFailedAs(events))
      .when(resolution)
      .thenNothing();
  });

  const others = [
    ...resolutions,
    assignTo('ord_01J0000000000000000000000R'),
    assignTo(undefined, { merchantId: 'mer_01J0000000000000000000000S' }),
    { ...sentBack, refundId: SECOND_REFUND_ID },
  ];
  test.each(resolutions.flatMap((first) => others.map((second) => [first, second] as const)))(
    'another resolution is refused: %#',
    (first, second) => {
      const isRepeat = first === second;
      const later = given(...after(toUnknownAddress, first)).when(second);
      if (isRepeat) later.thenNothing();
      else later.thenRefused('payment_conflict');
    },
  );

  test('the refusal names the earlier resolution', () => {
    const decide = (first: PaymentCommand, second: PaymentCommand) => () =>
      paymentDecider.decide(second, stateOf(after(toUnknownAddress, first)));
    expect(decide(toOrder, toMerchant)).toThrow(
      `already assigned to ${RIGHT_ORDER} of ${OWNER} by ana at ${CHANGED_AT_ISO}`,
    );
    expect(decide(toMerchant, sentBack)).toThrow(`already assigned to ${OWNER} by ana at ${CHANGED_AT_ISO}`);
    expect(decide(sentBack, toOrder)).toThrow(`already marked as returned at ${CHANGED_AT_ISO}`);
  });

  test('the refusal says what the money waits for', () => {
    const refusalOf = (resolution: PaymentCommand, events: PaymentEvent[]) => () =>
      paymentDecider.decide(resolution, stateOf(events));
    const pending = 'the payment is not confirmed: wait until its rail has confirmed it';
    for (const resolution of [toOrder, sentBack]) {
      expect(refusalOf(resolution, after({ ...toUnknownAddress, confirmed: false }))).toThrow(pending);
      expect(refusalOf(resolution, after(toUnknownAddress, failPayment))).toThrow('the payment failed (reorg)');
    }
  });

  test.each(resolutions)('money of a merchant is refused: %#', (resolution) => {
    given(paymentReceived(), paymentOrphaned('before_order')).when(resolution).thenRefused('payment_conflict');
    given(paymentReceived(), paymentOrphaned('unknown_order')).when(resolution).thenRefused('payment_conflict');
  });

  test.each(resolutions)('money that its rail has not confirmed is refused: %#', (resolution) =>
    given(...after({ ...toUnknownAddress, confirmed: false }))
      .when(resolution)
      .thenRefused('payment_conflict'),
  );

  test.each(resolutions)('a payment that does not exist is refused: %#', (resolution) =>
    given().when(resolution).thenRefused('not_found'),
  );
});

describe('a chain reorganization around the assignment', () => {
  const block = { height: 7, hash: '0x7a' };
  const mined = { ...toUnknownAddress, block, confirmations: 2 };
  const again = receivePayment({ ...mined, block: { height: 8, hash: '0x8b' }, at: CHANGED_AT });

  test.each([toOrder, toMerchant, sentBack])('refuses to resolve money that is gone: %#', (resolution) =>
    given(...after(mined, failPayment))
      .when(resolution)
      .thenRefused('payment_conflict'),
  );

  test('refuses to assign money that has to be confirmed again', () => {
    const moved = receivePayment({
      ...mined,
      block: { height: 8, hash: '0x8b' },
      confirmations: 1,
      confirmed: false,
      at: CHANGED_AT,
    });
    for (const resolution of [toOrder, toMerchant])
      given(...after(mined, moved))
        .when(resolution)
        .thenRefused('payment_conflict');
    given(...after(mined, moved, { ...confirmPayment, block: { height: 8, hash: '0x8b' } } as PaymentCommand))
      .when(toOrder)
      .thenLike({ type: 'PaymentAssigned', data: { blockChanges: 1 } });
  });

  test('lets money be assigned that came back', () =>
    given(...after(mined, failPayment, again))
      .when(toOrder)
      .thenLike({ type: 'PaymentAssigned', data: { sighting: 3 } }));

  test('fails assigned money, and gives it to the same order when it comes back', () => {
    const events = after(mined, toOrder, failPayment, again);
    expect(stateOf(events)).toMatchObject({ status: 'received', orderId: RIGHT_ORDER, merchantId: OWNER, sighting: 3 });
    expect(events.at(-1)).toMatchObject({ type: 'PaymentReinstated' });
  });

  test('makes money of a merchant alone an orphan of the merchant again when it comes back', () =>
    expect(stateOf(after(mined, toMerchant, failPayment, again))).toMatchObject({
      status: 'orphan',
      orphanReason: 'unknown_address',
      merchantId: OWNER,
    }));

  test('refuses to fail money that was returned, as for every refund', () =>
    given(...after(mined, sentBack))
      .when(failPayment)
      .thenRefused('payment_conflict'));
});

/** The failure of a payment, if it can still fail. */
function paymentFailedAs(events: readonly PaymentEvent[]): PaymentEvent {
  return stateOf(events).status === 'refunded' ? events.at(-1)! : paymentFailed;
}

test('the order that a payment named at first stays known', () =>
  expect(stateOf(after(toUnknownOrder, toOrder))).toMatchObject({ orderId: RIGHT_ORDER, reportedOrderId: ORDER_ID }));
