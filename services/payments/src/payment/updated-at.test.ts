import type { PaymentEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  CHANGED_AT_ISO,
  paymentApplied,
  paymentFailed,
  paymentReceived,
  paymentRefunded,
  RECEIVED_AT,
} from '../testing/jest-payment-events.ts';
import { paymentDecider } from './payment.ts';
import type { ExistingPayment } from './state.ts';

const EARLIER = new Date(RECEIVED_AT.getTime() + 1_000).toISOString();
const at = (instant: string, { type, data }: PaymentEvent) =>
  ({ type, data: { ...data, at: instant } }) as PaymentEvent;

test.each([
  ['failure', paymentFailed],
  ['partial refund', paymentRefunded('1')],
  ['full refund', paymentRefunded('10000')],
])('a %s by a slower clock does not move `updated_at` back', (_, event) => {
  const events = [paymentReceived(), paymentApplied, at(EARLIER, event)];
  const payment = fold(paymentDecider, paymentDecider.initial, events) as ExistingPayment;
  expect(payment.updatedAt).toBe(CHANGED_AT_ISO);
});
