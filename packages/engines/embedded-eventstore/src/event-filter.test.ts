import { createEventFilter } from './event-filter.ts';
import { RefusedError } from './refusals.ts';
import { recordedEvent } from './testing/jest-recorded-event.ts';

const event = (stream: string, type = 'T') => recordedEvent({ stream, type });
const matches = (regex: string, stream: string) => createEventFilter('stream', [], regex)(event(stream));

test.each([
  ['^[^\\$].*', 'order-1', true], // what the client sends for excludeSystemEvents()
  ['^[^\\$].*', '$$order-1', false],
  ['^(order|payment)-', 'payment-1', true],
  ['^(order|payment)-', 'my-order-1', false],
  ['\\d{3}$', 'order-123', true],
  ['日本', 'order-日本-1', true],
])('the expression %s on %s', (regex, stream, expected) => expect(matches(regex, stream)).toBe(expected));

test('an expression of exponential time in JavaScript takes linear time', () => {
  const evil = createEventFilter('stream', [], '^(a+)+$');
  const streams = Array.from({ length: 100 }, (_, i) => event(`${'a'.repeat(1_900)}${i}!`));
  const startedAt = performance.now();
  expect(streams.some(evil)).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(5_000); // in JavaScript more than 10^500 years
});

test.each([
  ['lookahead', '^(?=a)'],
  ['a backreference', '(a)\\1'],
  ['an unclosed group', '(a'],
  ['a large repetition', '((a{1,40}){1,40}){1,40}'],
  ['a long expression', 'a'.repeat(4_001)],
])('refuses %s', (_, regex) => {
  expect(() => createEventFilter('type', [], regex)).toThrow(RefusedError);
});
