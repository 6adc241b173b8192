import {
  applied,
  at,
  failed,
  fails,
  given,
  isApplied,
  isCanceled,
  isOrphan,
  orphaned,
  received,
  refunded,
  seen,
  T1,
} from '../testing/jest-payment-events.ts';

describe("the order's decision", () => {
  test('applies a received payment', () => given(received()).when(isApplied).then(applied));
  test('orphans a received payment', () => given(received()).when(isOrphan).then(orphaned()));
  test('applies an orphan that is captured', () => given(received(), orphaned()).when(isApplied).then(applied));
  test('orphans an applied payment when the order is canceled', () =>
    given(received(), applied).when(isCanceled).then(orphaned('canceled')));
  test('is ignored when it is repeated', () => {
    given(received(), applied).when(isApplied).thenNothing();
    given(received(), orphaned()).when(isOrphan).thenNothing();
  });
  test('does not undo a capture when it arrives late', () =>
    given(received(), orphaned(), applied).when(isOrphan).thenNothing());
  test('does not undo a cancellation when it arrives late', () =>
    given(received(), applied, orphaned('canceled')).when(isApplied).thenNothing());
  test.each([isApplied, isOrphan, isCanceled])('is ignored once the payment failed or is refunded: %j', (command) => {
    given(received(), applied, failed).when(command).thenNothing();
    given(received(), applied, refunded('10000')).when(command).thenNothing();
  });
});

describe('failing', () => {
  test.each([[[received()]], [[seen]], [[received(), applied]]])('fails a received or applied payment', (past) =>
    given(...past)
      .when(fails)
      .then(failed),
  );
  test.each([
    ['dropped', []],
    ['reorg', [applied]],
  ])('has the default reason %s', (failureReason, past) =>
    given(received(), ...past)
      .when({ type: 'FailPayment', at: T1 })
      .then({ type: 'PaymentFailed', data: { failureReason, at } }),
  );
  test('ignores a repeated failure', () => given(received(), failed).when(fails).thenNothing());
  test('is refused for an orphan', () => given(received(), orphaned()).when(fails).thenRefused('payment_conflict'));
  test('is refused for a refunded payment', () =>
    given(received(), orphaned(), refunded('10000')).when(fails).thenRefused('payment_conflict'));
});
