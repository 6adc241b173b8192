import type { PaymentEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  paymentApplied,
  paymentReceived,
  paymentRefunded,
  refundAddressed,
  refundCanceled,
  refundReopened,
  refundRequested,
  refundSent,
  refundSettled,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import { paymentDecider } from './payment.ts';
import type { ExistingPayment } from './state.ts';
import { paymentResource } from './view.ts';

const shownAfter = (...events: PaymentEvent[]) => {
  const history = [paymentReceived(), paymentApplied, ...events];
  return paymentResource(fold(paymentDecider, paymentDecider.initial, history) as ExistingPayment);
};

const sent = [refundRequested(), refundAddressed, refundSent];

test.each<[string, string | undefined, PaymentEvent[]]>([
  ['nothing without a refund', undefined, []],
  ['nothing for a refund that was recorded', undefined, [paymentRefunded('4000')]],
  ['a refund that is requested', '0.00004000', [refundRequested()]],
  ['a refund that is sent', '0.00004000', sent],
  ['a refund whose transfer left the chain', '0.00004000', [...sent, refundReopened]],
  ['the sum of two', '0.00005500', [refundRequested(), refundRequested('1500', SECOND_REFUND_ID)]],
  ['nothing once it is settled', undefined, [...sent, refundSettled()]],
  ['nothing once it is canceled', undefined, [refundRequested(), refundCanceled]],
])('shows what refunds reserve: %s', (_, reserved, events) => {
  expect(shownAfter(...events).reserved_amount).toBe(reserved);
});

test('a reserved amount is neither refunded nor taken from what is applied and due', () => {
  const { reserved_amount, ...shown } = shownAfter(refundRequested());
  expect(reserved_amount).toBe('0.00004000');
  expect(shown).toEqual(shownAfter());
});
