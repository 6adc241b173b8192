import { type PaymentEvent, paymentView } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  CHANGED_AT,
  CHANGED_AT_ISO,
  confirmPayment,
  failPayment,
  given,
  ORDER_ID,
  paymentApplied,
  paymentFailed,
  paymentOrphaned,
  paymentReceived,
  paymentReceivedUnconfirmed,
  paymentRefunded,
  RECEIVED_AT,
  receivePayment,
  recordApplied,
  recordOutcome,
  refundPayment,
} from '../testing/jest-payment-events.ts';
import type { PaymentCommand, ReceivePayment } from './command.ts';
import { paymentDecider } from './payment.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from './state.ts';

const stateOf = (events: PaymentEvent[]) => fold(paymentDecider, paymentDecider.initial, events) as ExistingPayment;
/** The first event, and those that the commands lead to. */
const past = (first: PaymentEvent, ...commands: PaymentCommand[]): PaymentEvent[] =>
  commands.reduce((events, command) => [...events, ...paymentDecider.decide(command, stateOf(events))], [first]);

describe('ReceivePayment', () => {
  test('records the payment with its fee', () =>
    given()
      .when(receivePayment())
      .thenLike({
        type: 'PaymentReceived',
        data: {
          orderId: ORDER_ID,
          amountMinor: '10000',
          feeMinor: '100',
          feeSchedule: '2026-01-01',
          at: RECEIVED_AT.toISOString(),
        },
      }));
  test('ignores a repeated report', () => given(paymentReceived()).when(receivePayment()).thenNothing());
  test('confirms the payment when a repeated report is confirmed', () =>
    given(paymentReceivedUnconfirmed)
      .when(receivePayment({ confirmations: 2, at: CHANGED_AT }))
      .thenLike({ type: 'PaymentConfirmed', data: { confirmations: 2, at: CHANGED_AT_ISO } }));
  test('ignores a repeated report that is no longer confirmed', () =>
    given(paymentReceived())
      .when(receivePayment({ confirmed: false }))
      .thenNothing());
  test.each([{ orderId: 'ord_other' }, { amountMinor: 9_999n }, { currency: 'ETH' as const }])(
    'refuses the same payment with %j',
    (overrides) => given(paymentReceived()).when(receivePayment(overrides)).thenRefused('payment_conflict'),
  );
  test('lists a difference of the currency without the amounts, which do not compare', () =>
    expect(() =>
      paymentDecider.decide(receivePayment({ currency: 'ETH', amountMinor: 9_999n }), stateOf([paymentReceived()])),
    ).toThrow(/^this payment was already reported with another currency \(BTC\)$/));
  test('takes a repeated report that names the address, whatever order has the address now', () => {
    const first = { address: 'bc1q', orderId: ORDER_ID };
    given(paymentReceived(first))
      .when(receivePayment({ ...first, orderId: 'ord_other' }))
      .thenNothing();
    given(paymentReceived(first))
      .when(receivePayment({ address: 'bc1p', orderId: 'ord_other' }))
      .thenRefused('payment_conflict');
  });
  test('records all that the rail reports, and nothing else', () => {
    const {
      type: _,
      reinstates: __,
      amountMinor,
      feeMinor,
      seenAt,
      at,
      ...reported
    } = receivePayment({ reinstates: true });
    given()
      .when(receivePayment({ reinstates: true }))
      .then({
        type: 'PaymentReceived',
        data: {
          ...reported,
          amountMinor: String(amountMinor),
          feeMinor: String(feeMinor),
          seenAt: seenAt.toISOString(),
          at: at.toISOString(),
        },
      });
  });
  test('takes the same amount in other decimals for the same payment', () =>
    given(paymentReceived())
      .when(receivePayment({ decimals: 10, amountMinor: 1_000_000n }))
      .thenNothing());
  test('refuses the same minor units in other decimals, and names the recorded amount', () => {
    const decide = () => paymentDecider.decide(receivePayment({ decimals: 10 }), stateOf([paymentReceived()]));
    expect(decide).toThrow(/another amount \(0\.00010000\)/);
  });
  test('is shown, and refunded, in the decimals that it recorded, whatever the configuration is', () => {
    const caz = paymentReceived({ currency: 'CAZ', decimals: 2, amountMinor: 1_000n, feeMinor: 10n });
    const orphaned = past(caz, recordOutcome({ status: 'orphan', orphanReason: 'late', at: CHANGED_AT }));
    const refund = (amountMinor: bigint) => paymentDecider.decide(refundPayment(amountMinor), stateOf(orphaned));
    expect(paymentView(stateOf([...orphaned, ...refund(400n)]))).toMatchObject({
      paid_amount: '10.00',
      fee_amount: '0.10',
      refunded_amount: '4.00',
    });
    expect(() => refund(1_001n)).toThrow('only 10.00 CAZ of the payment can still be refunded');
  });
  test('lists the differences in the refusal', () => {
    const decide = () =>
      paymentDecider.decide(
        receivePayment({ orderId: 'ord_other', amountMinor: 9_999n }),
        fold(paymentDecider, paymentDecider.initial, [paymentReceived()]),
      );
    expect(decide).toThrow(`another order (${ORDER_ID}), another amount (0.00010000)`);
  });
  test("names nothing of another merchant's payment in the refusal", () => {
    const decide = () =>
      paymentDecider.decide(
        receivePayment({ merchantId: 'mer_other', orderId: 'ord_other', amountMinor: 9_999n, currency: 'ETH' }),
        fold(paymentDecider, paymentDecider.initial, [paymentReceived()]),
      );
    expect(decide).toThrow(/^this payment is already recorded: report another one with its own id$/);
  });
  test('orphans a confirmed payment for an unknown order at once', () =>
    given()
      .when(receivePayment({ merchantId: UNCLAIMED_MERCHANT }))
      .thenLike({ type: 'PaymentReceived' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_order' } }));
  test('orphans a payment to an unknown address with the reason unknown_address', () =>
    given()
      .when(receivePayment({ merchantId: UNCLAIMED_MERCHANT, orderId: '0xabc', address: '0xabc' }))
      .thenLike({ type: 'PaymentReceived' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_address' } }));
  test('orphans an unconfirmed payment for an unknown order once it is confirmed', () => {
    given()
      .when(receivePayment({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }))
      .thenLike({ type: 'PaymentReceived' });
    given(paymentReceived({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }))
      .when(confirmPayment)
      .thenLike({ type: 'PaymentConfirmed' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_order' } });
  });
});

describe('the block of a payment', () => {
  const block = { height: 7, hash: '0x7a' };
  const elsewhere = { height: 8, hash: '0x8b' };
  const mined = paymentReceived({ confirmed: false, block, confirmations: 1 });
  const again = (changes: Partial<ReceivePayment>) => receivePayment({ confirmed: false, at: CHANGED_AT, ...changes });

  test('is recorded with the payment', () =>
    given()
      .when(receivePayment({ block, confirmations: 1 }))
      .thenLike({ type: 'PaymentReceived', data: { block, confirmations: 1 } }));
  test('is recorded once a payment is mined that was received before', () =>
    given(paymentReceivedUnconfirmed)
      .when(again({ block, confirmations: 1 }))
      .thenLike({ type: 'PaymentBlockChanged', data: { block, confirmations: 1, blockChanges: 1 } }));
  test('changes when the payment is mined again elsewhere', () => {
    const moved = past(mined, again({ block: elsewhere, confirmations: 1 }));
    given(mined)
      .when(again({ block: elsewhere }))
      .thenLike({ type: 'PaymentBlockChanged', data: { block: elsewhere } });
    given(...moved)
      .when(again({ block }))
      .thenLike({ type: 'PaymentBlockChanged', data: { block, blockChanges: 2 } });
  });
  test('is removed when no block contains the payment any more', () =>
    expect(paymentView(stateOf(past(mined, again({ confirmations: 0 }))))).toEqual(
      expect.not.objectContaining({ block: expect.anything() }),
    ));
  test.each([[{ block, confirmations: 5 }], [{}]])('stays when a report does not contradict it: %j', (report) =>
    given(mined).when(again(report)).thenNothing(),
  );
  test('changes before a confirmation in another block', () => {
    const changedAndConfirmed = [
      { type: 'PaymentBlockChanged' as const, data: { block: elsewhere, confirmations: 2 } },
      { type: 'PaymentConfirmed' as const, data: { confirmations: 2 } },
    ];
    given(mined)
      .when({ type: 'ConfirmPayment', block: elsewhere, confirmations: 2, at: CHANGED_AT })
      .thenLike(...changedAndConfirmed);
    given(mined)
      .when(again({ confirmed: true, block: elsewhere, confirmations: 2 }))
      .thenLike(...changedAndConfirmed);
  });
  test('is that of the last sighting', () =>
    expect(stateOf(past(mined, failPayment, again({ block: elsewhere, confirmations: 1 })))).toMatchObject({
      status: 'received',
      block: elsewhere,
      confirmations: 1,
    }));
  test('counts a further sighting, so that an order that misses it learns of the block', () =>
    given(...past(mined, failPayment))
      .when(again({ block, confirmations: 1 }))
      .thenLike({ type: 'PaymentReinstated', data: { block, blockChanges: 1 } }));
  test('takes the confirmation of a payment back that may still apply: received, or an orphan', () => {
    const confirmed = paymentReceived({ block, confirmations: 2 });
    for (const decided of [[], [paymentOrphaned('already_paid')]])
      given(confirmed, ...decided)
        .when(again({ block: elsewhere, confirmations: 1 }))
        .thenLike({ type: 'PaymentBlockChanged', data: { unconfirmed: true } });
    given(confirmed, paymentApplied)
      .when(again({ block: elsewhere, confirmations: 1 }))
      .thenState((payment) => expect(payment).toMatchObject({ confirmedAt: expect.any(String) }));
  });
  const report = again({});
  const change = (data: object): PaymentEvent => ({
    type: 'PaymentBlockChanged',
    data: { confirmations: 1, blockChanges: 1, seenAt: RECEIVED_AT.toISOString(), at: CHANGED_AT_ISO, ...data },
  });
  const unmined = paymentReceivedUnconfirmed;
  test.each<[string, PaymentEvent, Partial<ReceivePayment>, PaymentEvent[]]>([
    ['says nothing about blocks', mined, {}, []],
    ['counts confirmations and names no block', mined, { confirmations: 5 }, []],
    ['names the same block', mined, { block, confirmations: 5 }, []],
    ['finds it in no block', mined, { confirmations: 0 }, [change({ confirmations: 0 })]],
    ['finds it in another block', mined, { block: elsewhere }, [change({ block: elsewhere })]],
    [
      'counts more there',
      mined,
      { block: elsewhere, confirmations: 3 },
      [change({ block: elsewhere, confirmations: 3 })],
    ],
    ['still finds it in no block', unmined, { confirmations: 0 }, []],
    ['counts confirmations of a payment in no block', unmined, { confirmations: 5 }, []],
    ['finds it in its first block', unmined, { block }, [change({ block })]],
  ])('after a report that %s', (_, first, changes, expected) =>
    given(first)
      .when({ ...report, ...changes })
      .then(...expected),
  );
  test('changes without a further confirmation of a confirmed payment', () =>
    given(paymentReceived({ block, confirmations: 2 }))
      .when({ type: 'ConfirmPayment', block: elsewhere, confirmations: 2, at: CHANGED_AT })
      .then(change({ block: elsewhere, confirmations: 2 })));
  test('is not lost by a confirmation that names none', () =>
    given(mined)
      .when({ type: 'ConfirmPayment', confirmations: 0, at: CHANGED_AT })
      .then({
        type: 'PaymentConfirmed',
        data: { confirmations: 0, seenAt: RECEIVED_AT.toISOString(), at: CHANGED_AT_ISO },
      }));
  test('of a refunded payment is of no interest', () =>
    given(mined, paymentRefunded('10000'))
      .when(again({ block: elsewhere, confirmations: 1 }))
      .thenNothing());
});

describe('ConfirmPayment', () => {
  test('records the confirmation', () =>
    given(paymentReceivedUnconfirmed)
      .when(confirmPayment)
      .thenLike({ type: 'PaymentConfirmed', data: { confirmations: 2, at: CHANGED_AT_ISO } }));
  test('ignores a repeated confirmation', () => given(paymentReceived()).when(confirmPayment).thenNothing());
  test.each([[paymentApplied], [paymentOrphaned()]])('is recorded after the order decided: %j', (event) =>
    given(paymentReceivedUnconfirmed, event)
      .when(confirmPayment)
      .thenLike({ type: 'PaymentConfirmed', data: { confirmations: 2, at: CHANGED_AT_ISO } }),
  );
  test('is ignored once the payment is fully refunded', () =>
    given(paymentReceivedUnconfirmed, paymentApplied, paymentRefunded('10000')).when(confirmPayment).thenNothing());
  test('is refused for a failed payment', () =>
    given(paymentReceivedUnconfirmed, paymentFailed).when(confirmPayment).thenRefused('payment_conflict'));
});

describe('ReceivePayment after a failure', () => {
  const failed = [paymentReceived(), paymentApplied, paymentFailed];
  const again = receivePayment({ at: CHANGED_AT });
  const reinstated = paymentDecider.decide(again, fold(paymentDecider, paymentDecider.initial, failed));

  const block = { height: 7, hash: '0x7a' };
  const mined = paymentReceived({ block, confirmations: 3 });
  const seenAt = RECEIVED_AT.toISOString();
  test.each<[string, PaymentEvent, Partial<ReceivePayment>, object]>([
    ['without a block', paymentReceived(), { confirmed: false }, { confirmed: false }],
    ['confirmed', paymentReceived(), {}, { confirmed: true }],
    [
      'in its first block',
      paymentReceived(),
      { block, confirmations: 3 },
      { confirmations: 3, block, blockChanges: 1 },
    ],
    ['in the same block', mined, { block, confirmations: 3 }, { confirmations: 3, block, blockChanges: 1 }],
    [
      'in no block any more',
      mined,
      { confirmed: false, confirmations: 0 },
      { confirmed: false, confirmations: 0, blockChanges: 1 },
    ],
  ])('records a sighting %s', (_, first, changes, expected) =>
    given(first, paymentFailed)
      .when(receivePayment({ at: CHANGED_AT, ...changes }))
      .then({
        type: 'PaymentReinstated',
        data: { sighting: 2, seenAt, confirmed: true, ...expected, at: CHANGED_AT_ISO },
      }),
  );
  test('names the sighting and the changes of block in every later event', () => {
    const twice = past(
      mined,
      failPayment,
      receivePayment({ confirmed: false, block, confirmations: 1, at: CHANGED_AT }),
    );
    const seen = { seenAt, sighting: 2, at: CHANGED_AT_ISO };
    given(...twice)
      .when(confirmPayment)
      .then({ type: 'PaymentConfirmed', data: { confirmations: 2, blockChanges: 1, ...seen } });
    given(...twice)
      .when(receivePayment({ confirmed: false, confirmations: 0, at: CHANGED_AT }))
      .then({ type: 'PaymentBlockChanged', data: { confirmations: 0, blockChanges: 2, ...seen } });
    given(...twice)
      .when(failPayment)
      .then({ type: 'PaymentFailed', data: { failureReason: 'reorg', blockChanges: 1, ...seen } });
  });
  test('makes the payment received again', () => {
    given(...failed)
      .when(again)
      .thenLike({ type: 'PaymentReinstated', data: { sighting: 2, confirmed: true } });
    given(...failed)
      .when(again)
      .thenState((payment) => {
        expect(payment).toMatchObject({ status: 'received', appliedMinor: 0n, confirmedAt: CHANGED_AT_ISO });
        expect(paymentView(payment as ExistingPayment)).not.toHaveProperty('failure_reason');
      });
  });
  test('ignores a repeated report of the same sighting', () =>
    given(...failed, ...reinstated)
      .when(again)
      .thenNothing());
  test('leaves the payment failed if the report only repeats the failure', () =>
    given(...failed)
      .when(receivePayment({ confirmed: false, reinstates: false }))
      .thenNothing());
  test('refuses another amount', () =>
    given(...failed)
      .when(receivePayment({ amountMinor: 9_999n }))
      .thenRefused('payment_conflict'));
  test('ignores the outcomes of the earlier sighting, and takes those of this one', () => {
    given(...failed, ...reinstated)
      .when(recordApplied)
      .thenNothing();
    given(...failed, ...reinstated)
      .when(
        recordOutcome({ status: 'applied', sighting: 2, appliedMinor: 10_000n, unappliedMinor: 0n, at: CHANGED_AT }),
      )
      .thenLike({ type: 'PaymentApplied' });
  });
  test('the payment can fail again, and names the sighting', () =>
    given(...failed, ...reinstated)
      .when(failPayment)
      .thenLike({ type: 'PaymentFailed', data: { sighting: 2 } }));
  test('orphans a confirmed payment for an unknown order once more', () => {
    const unclaimed = { merchantId: UNCLAIMED_MERCHANT };
    given(paymentReceived({ ...unclaimed, confirmed: false }), paymentFailed)
      .when(receivePayment({ ...unclaimed, confirmed: false }))
      .thenLike({ type: 'PaymentReinstated' });
    given(paymentReceived({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }), paymentFailed)
      .when(receivePayment({ merchantId: UNCLAIMED_MERCHANT }))
      .thenLike({ type: 'PaymentReinstated' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_order' } });
  });
});

test.each([confirmPayment, recordApplied, failPayment, refundPayment()])(
  'refuses every other command before the payment is received: %j',
  (command) => given().when(command).thenRefused('not_found'),
);

test('shows amounts with a fixed number of decimals', () =>
  given(paymentReceived())
    .when(recordApplied)
    .thenState((payment) =>
      expect(paymentView(payment as ExistingPayment)).toMatchObject({
        status: 'applied',
        paid_amount: '0.00010000',
        fee_amount: '0.00000100',
        net_amount: '0.00009900',
        applied_amount: '0.00009000',
        unapplied_amount: '0.00001000',
        updated_at: CHANGED_AT_ISO,
      }),
    ));
