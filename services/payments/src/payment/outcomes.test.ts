import type { PaymentEvent } from '@cpg/contracts';
import {
  paymentApplied,
  CHANGED_AT_ISO,
  paymentFailed,
  failPayment,
  given,
  ORDER_ID,
  recordApplied,
  recordOrphanedByCancellation,
  recordOrphaned,
  recordOutcome,
  paymentOrphaned,
  paymentReceived,
  paymentRefunded,
  paymentReceivedUnconfirmed,
  CHANGED_AT,
} from '../testing/jest-payment-events.ts';

describe('RecordOutcome', () => {
  test('applies a received payment', () => given(paymentReceived()).when(recordApplied).then(paymentApplied));
  test('orphans a received payment', () => given(paymentReceived()).when(recordOrphaned).then(paymentOrphaned()));
  test('applies an orphan that is captured', () =>
    given(paymentReceived(), paymentOrphaned()).when(recordApplied).then(paymentApplied));
  test('orphans an applied payment when the order is canceled', () =>
    given(paymentReceived(), paymentApplied).when(recordOrphanedByCancellation).then(paymentOrphaned('canceled')));
  test('applies more of an applied payment whose surplus its order needs, and never less', () => {
    const more = recordOutcome({ status: 'applied', appliedMinor: 9_500n, unappliedMinor: 500n, at: CHANGED_AT });
    given(paymentReceived(), paymentApplied)
      .when(more)
      .thenLike({ type: 'PaymentApplied', data: { appliedMinor: '9500', unappliedMinor: '500' } });
    const applied = (appliedMinor: string, unappliedMinor: string): PaymentEvent => ({
      type: 'PaymentApplied',
      data: { orderId: ORDER_ID, appliedMinor, unappliedMinor, at: CHANGED_AT_ISO },
    });
    given(paymentReceived(), applied('9500', '500')).when(recordApplied).thenNothing();
  });
  test('is ignored when it is repeated', () => {
    given(paymentReceived(), paymentApplied).when(recordApplied).thenNothing();
    given(paymentReceived(), paymentOrphaned()).when(recordOrphaned).thenNothing();
  });
  test('does not undo a capture when it arrives late', () =>
    given(paymentReceived(), paymentOrphaned(), paymentApplied).when(recordOrphaned).thenNothing());
  test('does not undo a cancellation when it arrives late', () =>
    given(paymentReceived(), paymentApplied, paymentOrphaned('canceled')).when(recordApplied).thenNothing());
  test.each([recordApplied, recordOrphaned, recordOrphanedByCancellation])(
    'is ignored once the payment failed or is refunded: %j',
    (command) => {
      given(paymentReceived(), paymentApplied, paymentFailed).when(command).thenNothing();
      given(paymentReceived(), paymentApplied, paymentRefunded('10000')).when(command).thenNothing();
    },
  );
});

describe('FailPayment', () => {
  test.each([[[paymentReceived()]], [[paymentReceivedUnconfirmed]], [[paymentReceived(), paymentApplied]]])(
    'fails a received or applied payment',
    (past) =>
      given(...past)
        .when(failPayment)
        .thenLike(paymentFailed),
  );
  test.each([
    ['dropped', []],
    ['reorg', [paymentApplied]],
  ])('has the default reason %s', (failureReason, past) =>
    given(paymentReceived(), ...past)
      .when({ type: 'FailPayment', at: CHANGED_AT })
      .thenLike({ type: 'PaymentFailed', data: { failureReason, at: CHANGED_AT_ISO } }),
  );
  test('ignores a repeated failure', () => given(paymentReceived(), paymentFailed).when(failPayment).thenNothing());
  test('fails an orphan, whose money a reorganization took back', () =>
    given(paymentReceived(), paymentOrphaned())
      .when({ type: 'FailPayment', at: CHANGED_AT })
      .thenLike({ type: 'PaymentFailed', data: { failureReason: 'reorg' } }));
  test('is refused for a refunded payment', () =>
    given(paymentReceived(), paymentOrphaned(), paymentRefunded('10000'))
      .when(failPayment)
      .thenRefused('payment_conflict'));
});
