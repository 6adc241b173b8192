import { paymentView } from '@cpg/contracts';
import { fold } from '@cpg/core';
import {
  applied,
  at,
  confirm,
  failed,
  fails,
  given,
  isApplied,
  ORDER,
  orphaned,
  receive,
  received,
  refund,
  refunded,
  seen,
  T0,
  T1,
} from '../testing/jest-payment-events.ts';
import { paymentDecider } from './payment.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from './state.ts';

describe('receiving', () => {
  test('records the payment with its fee', () =>
    given()
      .when(receive())
      .thenLike({
        type: 'PaymentReceived',
        data: {
          orderId: ORDER,
          amountMinor: '10000',
          feeMinor: '100',
          feeSchedule: '2026-01-01',
          at: T0.toISOString(),
        },
      }));
  test('ignores a repeated report', () => given(received()).when(receive()).thenNothing());
  test('confirms the payment when a repeated report is confirmed', () =>
    given(seen)
      .when(receive({ confirmations: 2, at: T1 }))
      .then({ type: 'PaymentConfirmed', data: { confirmations: 2, at } }));
  test('ignores a repeated report that is no longer confirmed', () =>
    given(received())
      .when(receive({ confirmed: false }))
      .thenNothing());
  test.each([{ orderId: 'ord_other' }, { amountMinor: 9_999n }, { currency: 'ETH' as const }])(
    'refuses the same payment with %j',
    (changes) => given(received()).when(receive(changes)).thenRefused('payment_conflict'),
  );
  test('names the differences when it refuses', () => {
    const decide = () =>
      paymentDecider.decide(
        receive({ orderId: 'ord_other', amountMinor: 9_999n }),
        fold(paymentDecider, paymentDecider.initial, [received()]),
      );
    expect(decide).toThrow(`another order (${ORDER}), another amount (0.00010000)`);
  });
  test('orphans a payment for an unknown order at once', () =>
    given()
      .when(receive({ merchantId: UNCLAIMED_MERCHANT }))
      .thenLike({ type: 'PaymentReceived' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_order' } }));
  test('orphans a payment to an unknown address with that reason', () =>
    given()
      .when(receive({ merchantId: UNCLAIMED_MERCHANT, orderId: '0xabc', address: '0xabc' }))
      .thenLike({ type: 'PaymentReceived' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_address' } }));
  test('orphans an unconfirmed payment for an unknown order once it is confirmed', () => {
    given()
      .when(receive({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }))
      .thenLike({ type: 'PaymentReceived' });
    given(received({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }))
      .when(confirm)
      .thenLike({ type: 'PaymentConfirmed' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_order' } });
  });
});

describe('confirming', () => {
  test('records the confirmation', () =>
    given(seen)
      .when(confirm)
      .then({ type: 'PaymentConfirmed', data: { confirmations: 2, at } }));
  test('ignores a repeated confirmation', () => given(received()).when(confirm).thenNothing());
  test.each([[applied], [orphaned()]])('is recorded after the order decided: %j', (event) =>
    given(seen, event)
      .when(confirm)
      .then({ type: 'PaymentConfirmed', data: { confirmations: 2, at } }),
  );
  test('is ignored once the payment is fully refunded', () =>
    given(seen, applied, refunded('10000')).when(confirm).thenNothing());
  test('is refused for a failed payment, whose repeated report is ignored', () => {
    given(seen, failed).when(confirm).thenRefused('payment_conflict');
    given(seen, failed).when(receive()).thenNothing();
  });
});

test.each([confirm, isApplied, fails, refund()])(
  'refuses every other command before the payment is received: %j',
  (command) => given().when(command).thenRefused('not_found'),
);

test('shows amounts with a fixed number of decimals', () =>
  given(received())
    .when(isApplied)
    .thenState((payment) =>
      expect(paymentView(payment as ExistingPayment)).toMatchObject({
        status: 'applied',
        paid_amount: '0.00010000',
        fee_amount: '0.00000100',
        net_amount: '0.00009900',
        applied_amount: '0.00009000',
        unapplied_amount: '0.00001000',
        updated_at: at,
      }),
    ));
