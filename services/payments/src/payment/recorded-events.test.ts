import { PAYMENT_EVENTS, PaymentEvent } from '@cpg/contracts';
import { testRecordedEvents } from '@cpg/event-sourcing/testing/recorded-events';
import { paymentMessage } from '../messages.ts';
import { streamsByRelease } from '../testing/jest-recorded.ts';
import { recordStreams } from '../testing/record.ts';
import { paymentDecider } from './payment.ts';
import { type ExistingPayment, exists, type Payment } from './state.ts';
import { paymentResource } from './view.ts';

const versions = streamsByRelease();

// When this fails, this version records another shape. `pnpm --filter @cpg/payments record <version>` writes the file
// of the next release. The files of releases never change.
test('the newest file is what this version records', () => expect(recordStreams()).toEqual(versions.at(-1)![1]));

testRecordedEvents({
  versions,
  schema: PaymentEvent,
  eventTypes: PAYMENT_EVENTS.map(({ type }) => type),
  decider: paymentDecider,
  show: (payment: Payment) => paymentResource(payment as ExistingPayment),
  publish: paymentMessage,
  isPublished: exists,
});
