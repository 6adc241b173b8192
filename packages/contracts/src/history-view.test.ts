import { fromMinor } from './money.ts';
import { decimalsOf } from './currencies.ts';
import type { RecordedEntry } from './history.ts';
import { historyView } from './history-view.ts';
import { ORDER_EVENTS } from './order-events.ts';
import { PAYMENT_EVENTS } from './payment-events.ts';
import { exampleMessage } from './examples.ts';
import { HistoryEntry } from './resources/history.ts';

const ORDER = 'ord_01KGA4S9HNRV4Q0K2M8B6D1C3F';
const CURRENCY = 'USDC';

const entryOf = (stream: string, type: string, data: object): RecordedEntry => ({
  id: 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9',
  stream,
  sequence: 0,
  type,
  at: '2026-01-31T12:00:00.000Z',
  recorded_at: '2026-01-31T12:00:00.001Z',
  actor: 'key:abc',
  request_id: 'req_1',
  correlation_id: 'req_1',
  causation_id: 'req_1',
  previous_hash: 'a',
  hash: 'b',
  data: { ...data },
});
const view = (stream: string, type: string, data: object) =>
  historyView(entryOf(stream, type, data), ORDER, () => CURRENCY);

const published = [...ORDER_EVENTS, ...PAYMENT_EVENTS].flatMap(({ type, message }) =>
  message === null ? [] : [[type, exampleMessage(message)] as const],
);

/** Every field name in a value, except in maps whose keys are data. */
const names = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(names);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    name,
    ...(['metadata', 'rates'].includes(name) ? [] : names(part)),
  ]);
};

test.each(published)('%s is shown in snake_case, with decimal amounts and no internal field', (type, message) => {
  const stream = type.startsWith('Order') ? `order-${ORDER}` : `payment-${message.subject}`;
  const { change } = message.data;
  const shown = view(stream, type, { ...change, secretOfANewerVersion: '1' });
  expect(HistoryEntry.parse(shown)).toEqual(shown);
  expect(names(shown).filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([]);
  expect(JSON.stringify(shown)).not.toMatch(/minor|derivation|fingerprint|secret/i);
  const minors = [...JSON.stringify(change).matchAll(/"\w+Minor":"(\d+)"/g)].map(([, minor]) => minor!);
  const hidden = type === 'OrderRenewed' ? 1 : 0;
  const amounts = JSON.stringify(shown.data).match(/_?amount":"\d+\.\d{6}"/g) ?? [];
  expect(amounts.length).toBeGreaterThanOrEqual(minors.length - hidden);
  for (const amount of amounts)
    expect(minors.map((minor) => fromMinor(BigInt(minor), decimalsOf(CURRENCY)))).toContain(
      /"(\d+\.\d+)"/.exec(amount)![1],
    );
});

test('an assignment shows merchants neither the reason nor the person', () => {
  const { change } = exampleMessage('payment.assigned').data;
  const shown = view('payment-p', 'PaymentAssigned', change);
  expect(shown.data).toMatchObject({ order_id: expect.any(String), sighting: 2 });
  expect(JSON.stringify(shown)).not.toMatch(/invoice|"ana"/);
});

test('an event of a newer version is shown without data', () => {
  expect(view(`order-${ORDER}`, 'OrderGifted', { at: '2026-01-31T12:00:00.000Z', giftedTo: 'Ana' }).data).toEqual({});
  expect(view(`order-${ORDER}`, 'constructor', {}).data).toEqual({});
});

test('an amount of a payment whose currency is not known is left out', () => {
  const data = { refundId: 'rfd_01KGA4S9HNRV4Q0K2M8B6D1C3F', amountMinor: '1', refundedTotalMinor: '1' };
  const entry = entryOf('payment-pay_1', 'PaymentRefunded', { ...data, at: '2026-01-31T12:00:00.000Z' });
  expect(historyView(entry, ORDER, () => undefined).data).toEqual({ refund_id: data.refundId });
});
