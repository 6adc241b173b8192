import { applied, failed, given, orphaned, received, refund, refunded, RFD2 } from '../testing/jest-payment-events.ts';

describe('refunding', () => {
  test.each([[applied], [orphaned()]])('refunds everything after %j', (event) => {
    given(received(), event).when(refund()).then(refunded('10000'));
    given(received(), event)
      .when(refund())
      .thenState((payment) => expect(payment.status).toBe('refunded'));
  });
  test('keeps the status after a partial refund', () =>
    given(received(), applied)
      .when(refund(4_000n))
      .thenState((payment) => expect(payment).toMatchObject({ status: 'applied', refundedMinor: 4_000n })));
  test('refunds the rest after a part', () =>
    given(received(), applied, refunded('4000'))
      .when(refund(undefined, RFD2))
      .then(refunded('6000', '10000', RFD2)));
  test('ignores a repeated refund', () =>
    given(received(), applied, refunded('4000')).when(refund(4_000n)).thenNothing());
  test('refuses more than the remaining amount', () =>
    given(received(), applied, refunded('4000')).when(refund(6_001n, RFD2)).thenRefused('invalid_request'));
  test('refuses an amount of zero', () => given(received(), applied).when(refund(0n)).thenRefused('invalid_request'));
  test('refuses once everything is refunded', () =>
    given(received(), applied, refunded('10000')).when(refund(1n, RFD2)).thenRefused('nothing_to_refund'));
  test('accepts a hundred partial refunds, then only the remaining amount', () => {
    const parts = Array.from({ length: 100 }, (_, n) =>
      refunded('1', String(n + 1), `${RFD2.slice(0, -3)}${String(n).padStart(3, '0')}`),
    );
    given(received(), applied, ...parts)
      .when(refund(1n))
      .thenRefused('payment_conflict');
    given(received(), applied, ...parts)
      .when(refund())
      .then(refunded('9900', '10000'));
    given(received(), applied, ...parts.slice(1))
      .when(refund(1n))
      .thenLike({ type: 'PaymentRefunded' });
  });
  test('refuses a failed payment', () => given(received(), failed).when(refund()).thenRefused('payment_conflict'));
  test('refuses a received payment', () => given(received()).when(refund()).thenRefused('payment_conflict'));
});
