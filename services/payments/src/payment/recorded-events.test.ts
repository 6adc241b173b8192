import { PAYMENT_EVENTS, PaymentEvent, paymentView } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { eventHash, genesisHash } from '@cpg/event-sourcing';
import { paymentMessage } from '../messages.ts';
import { recordedVersions } from '../testing/jest-recorded.ts';
import { type RecordedPayment, recordStreams } from '../testing/record.ts';
import { paymentDecider } from './payment.ts';
import type { ExistingPayment, Payment } from './state.ts';

const versions = recordedVersions();
const streams = versions.flatMap(([version, recorded]) =>
  recorded.map((each): [string, string, RecordedPayment] => [version, each.stream, each]),
);

const viewOf = (events: PaymentEvent[]) =>
  JSON.parse(
    JSON.stringify(paymentView(fold(paymentDecider, paymentDecider.initial, events) as ExistingPayment)),
  ) as unknown;

// When this fails, this version records another shape. `pnpm --filter @cpg/payments record <version>` writes the file
// of the next release. The files of releases never change.
test('the newest file is what this version records', () => expect(recordStreams()).toEqual(versions.at(-1)![1]));

test('the committed files hold every event type', () => {
  const types = new Set(streams.flatMap(([, , { events }]) => events.map(({ type }) => type)));
  expect(types).toEqual(new Set(PAYMENT_EVENTS.map(({ type }) => type)));
});

describe.each(streams)('version %s, %s', (_version, stream, { events, resource }) => {
  const { at } = events[0]!.data;
  const unknownEvent = { type: 'PaymentGifted', data: { at, giftedTo: 'Ana' } };
  const newer = events.flatMap(({ type, data }) => [
    { type, data: { ...data, field_of_a_newer_version: 1 } },
    unknownEvent,
  ]) as unknown as PaymentEvent[];

  test('is read without loss', () => {
    for (const { type, data } of events) expect(PaymentEvent.parse({ type, data })).toEqual({ type, data });
    for (const event of newer) expect(PaymentEvent.parse(event)).toEqual(event);
  });

  test('folds to the payment that the API showed', () => {
    expect(viewOf(events.map(({ type, data }) => PaymentEvent.parse({ type, data })))).toEqual(resource);
  });

  test('folds to the same payment with unknown fields and unknown events', () => {
    expect(viewOf([unknownEvent as never, ...newer].map((event) => PaymentEvent.parse(event)))).toEqual(resource);
  });

  test('publishes unknown fields, and no message for an unknown event', () => {
    let payment: Payment = paymentDecider.initial;
    for (const [revision, event] of newer.entries()) {
      payment = paymentDecider.evolve(payment, PaymentEvent.parse(event));
      const metadata = {
        actor: 'a',
        requestId: 'r',
        $correlationId: 'c',
        $causationId: 'd',
        previousHash: '',
        hash: '',
      };
      const id = 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9';
      const message = paymentMessage({ stream, revision, id, event, metadata }, payment);
      expect(message?.data.change ?? null).toEqual(event.type === unknownEvent.type ? null : event.data);
    }
  });

  test('has an intact hash chain', () => {
    let previousHash = genesisHash(stream);
    for (const { type, data, metadata } of events) {
      expect(metadata.previousHash).toBe(previousHash);
      previousHash = eventHash(previousHash, { type, data });
      expect(metadata.hash).toBe(previousHash);
    }
  });
});
