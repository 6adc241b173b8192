import { fromMinor, type PaymentEvent, paymentView } from '@cpg/contracts';
import {
  paymentApplied,
  paymentFailed,
  given,
  paymentOrphaned,
  paymentReceived,
  REFUND_ID,
  refundOrderPart,
  refundPayment,
  refundSurplus,
  paymentRefunded,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import type { ExistingPayment } from './state.ts';

const ALL_APPLIED = { appliedMinor: '10000', unappliedMinor: '0' };
const paymentAppliedOf = (appliedMinor: string, unappliedMinor: string): PaymentEvent =>
  ({ ...paymentApplied, data: { ...paymentApplied.data, appliedMinor, unappliedMinor } }) as PaymentEvent;
const withSmallestPayable = (smallestPayableMinor: string): PaymentEvent =>
  ({ ...paymentApplied, data: { ...paymentApplied.data, smallestPayableMinor } }) as PaymentEvent;

describe('a part of a refund of the order', () => {
  const withSurplus = paymentAppliedOf('9000', '1000');
  test('leaves the surplus, and records the sum of such parts', () => {
    const first = { type: 'PaymentRefunded', data: { orderRefundedTotalMinor: '4000' } } as const;
    given(paymentReceived(), withSurplus).when(refundOrderPart(4_000n)).thenLike(first);
    given(paymentReceived(), withSurplus)
      .when(refundOrderPart(4_000n))
      .thenState((payment) =>
        expect(paymentView(payment as ExistingPayment)).toMatchObject({
          applied_amount: fromMinor(5_000n, (payment as ExistingPayment).decimals),
          unapplied_amount: fromMinor(1_000n, (payment as ExistingPayment).decimals),
        }),
      );
  });
  test('takes no more than is left of the applied amount', () => {
    given(paymentReceived(), withSurplus).when(refundOrderPart(9_000n)).thenLike({ type: 'PaymentRefunded' });
    given(paymentReceived(), withSurplus).when(refundOrderPart(9_001n)).thenRefused('refund_too_large');
    given(paymentReceived(), withSurplus, paymentRefunded('4000'))
      .when(refundOrderPart(6_001n, SECOND_REFUND_ID))
      .thenRefused('refund_too_large');
  });
  test('is refused of money that is not applied', () => {
    given(paymentReceived(), paymentOrphaned()).when(refundOrderPart(1n)).thenRefused('refund_too_large');
    given(paymentReceived(), paymentFailed).when(refundOrderPart(1n)).thenRefused('refund_too_large');
  });
  test('is ignored when it is repeated', () =>
    given(paymentReceived(), withSurplus, paymentRefunded('4000')).when(refundOrderPart(4_000n)).thenNothing());
});

describe('RefundPayment', () => {
  test.each([[paymentApplied], [paymentOrphaned()]])('refunds everything after %j', (event) => {
    given(paymentReceived(), event).when(refundPayment()).then(paymentRefunded('10000'));
    given(paymentReceived(), event)
      .when(refundPayment())
      .thenState((payment) => expect(payment.status).toBe('refunded'));
  });
  test('records how the money went back', () => {
    const returned = { txHash: 'f00d', network: 'bitcoin', destination: 'bc1q' };
    given(paymentReceived(), paymentApplied)
      .when({ ...refundPayment(4_000n), ...returned })
      .thenLike({ type: 'PaymentRefunded', data: returned });
  });
  test('keeps the status after a partial refund', () =>
    given(paymentReceived(), paymentApplied)
      .when(refundPayment(4_000n))
      .thenState((payment) => expect(payment).toMatchObject({ status: 'applied', refundedMinor: 4_000n })));
  test('refunds the rest after a partial refund', () =>
    given(paymentReceived(), paymentApplied, paymentRefunded('4000'))
      .when(refundPayment(undefined, SECOND_REFUND_ID))
      .then(paymentRefunded('6000', '10000', SECOND_REFUND_ID)));
  test('ignores a repeated refund', () =>
    given(paymentReceived(), paymentApplied, paymentRefunded('4000')).when(refundPayment(4_000n)).thenNothing());
  test('refuses more than the remaining amount', () =>
    given(paymentReceived(), paymentApplied, paymentRefunded('4000'))
      .when(refundPayment(6_001n, SECOND_REFUND_ID))
      .thenRefused('refund_too_large'));
  test('refuses an amount of zero, and names it', () => {
    given(paymentReceived(), paymentApplied).when(refundPayment(0n)).thenRefused('invalid_request');
    expect(() => given(paymentReceived(), paymentApplied).when(refundPayment(0n)).thenNothing()).toThrow(
      expect.objectContaining({ details: [{ path: 'amount', message: 'must be positive' }] }),
    );
  });
  test('refuses once everything is refunded', () =>
    given(paymentReceived(), paymentApplied, paymentRefunded('10000'))
      .when(refundPayment(1n, SECOND_REFUND_ID))
      .thenRefused('nothing_to_refund'));
  test('accepts a hundred partial refunds, then only the remaining amount', () => {
    const parts = Array.from({ length: 100 }, (_, n) =>
      paymentRefunded('1', String(n + 1), `${SECOND_REFUND_ID.slice(0, -3)}${String(n).padStart(3, '0')}`),
    );
    given(paymentReceived(), paymentApplied, ...parts)
      .when(refundPayment(1n))
      .thenRefused('payment_conflict');
    given(paymentReceived(), paymentApplied, ...parts)
      .when(refundPayment())
      .then(paymentRefunded('9900', '10000'));
    given(paymentReceived(), paymentApplied, ...parts.slice(1))
      .when(refundPayment(1n))
      .thenLike({ type: 'PaymentRefunded' });
  });
  test.each([true, false])('refunds the surplus of an applied payment, by default: %s', (byDefault) => {
    given(paymentReceived(), paymentApplied)
      .when(refundSurplus(REFUND_ID, { byDefault }))
      .then(paymentRefunded('1000'));
    given(paymentReceived(), paymentApplied, paymentRefunded('400'))
      .when(refundSurplus(SECOND_REFUND_ID, { byDefault }))
      .then(paymentRefunded('600', '1000', SECOND_REFUND_ID));
  });
  test.each([true, false])('refunds all that is left of an orphan, by default: %s', (byDefault) =>
    given(paymentReceived(), paymentOrphaned('already_paid'), paymentRefunded('4000'))
      .when(refundSurplus(SECOND_REFUND_ID, { byDefault }))
      .then(paymentRefunded('6000', '10000', SECOND_REFUND_ID)),
  );
  test.each([
    ['never had a surplus', [{ ...paymentApplied, data: { ...paymentApplied.data, ...ALL_APPLIED } } as PaymentEvent]],
    ['had a surplus that was refunded', [paymentApplied, paymentRefunded('1000')]],
    ['has a surplus that is too small to send', [withSmallestPayable('1001')]],
  ])('never refunds an applied part unless it is told to: the payment %s', (_, events) => {
    const after = given(paymentReceived(), ...events);
    after.when(refundSurplus(SECOND_REFUND_ID, { byDefault: true })).thenRefused('refund_amount_required');
    after.when(refundSurplus(SECOND_REFUND_ID)).thenRefused('nothing_to_refund');
    after.when(refundPayment(undefined, SECOND_REFUND_ID)).thenState(({ status }) => expect(status).toBe('refunded'));
  });
  test('says what to send where an amount is required', () =>
    expect(() =>
      given(paymentReceived(), withSmallestPayable('1001'))
        .when(refundSurplus(REFUND_ID, { byDefault: true }))
        .thenNothing(),
    ).toThrow('send an "amount", or "what": "all" to refund all 0.00010000 BTC that are left'));
  test('refunds a surplus that can just be sent, and keeps a rest that cannot', () => {
    given(paymentReceived(), withSmallestPayable('1000')).when(refundSurplus()).then(paymentRefunded('1000'));
    given(paymentReceived(), withSmallestPayable('1000'), paymentRefunded('1'))
      .when(refundSurplus(SECOND_REFUND_ID))
      .thenRefused('nothing_to_refund');
  });
  test.each([true, false])('a repeat of the refund of a surplus changes nothing, by default: %s', (byDefault) =>
    given(paymentReceived(), paymentApplied, paymentRefunded('1000'))
      .when(refundSurplus(REFUND_ID, { byDefault }))
      .thenNothing(),
  );
  test('refuses a failed payment', () =>
    given(paymentReceived(), paymentFailed).when(refundPayment()).thenRefused('payment_conflict'));
  test('refuses a received payment', () =>
    given(paymentReceived()).when(refundPayment()).thenRefused('payment_conflict'));
});
