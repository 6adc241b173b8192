import type { ServerResponse } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import { createEventStreams, type Place, send } from './event-streams.ts';

const timers = (import.meta as unknown as { jest: typeof jest }).jest;

const NOW = new Date('2026-03-01T12:00:00Z');
const HEARTBEAT_MS = 20_000;

const create = (options: { max?: number; maxPerAddress?: number } = {}) =>
  createEventStreams({ max: 10, maxPerAddress: 2, random: () => 0.5, now: () => NOW, ...options });

/** A response whose client reads everything at once, and one whose client reads nothing. */
const reading = () => {
  const response = new PassThrough();
  let text = '';
  response.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { response: response as unknown as ServerResponse, text: () => text };
};
const unread = () => new Writable({ write: () => {} }) as unknown as ServerResponse;
const closed = async (response: ServerResponse) => {
  while (!response.closed) await new Promise(setImmediate);
  await new Promise(setImmediate);
};

beforeEach(() => void timers.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void timers.useRealTimers());

test('a stream begins with the time to wait before connecting again, and the time of the server', async () => {
  const streams = create();
  const client = reading();
  streams.open(streams.reserve('a') as Place, client.response);
  await new Promise(setImmediate);
  expect(client.text()).toBe(`retry: 5000\nevent: time\ndata: ${NOW.getTime()}\n\n`);
});

test('refuses more streams than the limits of an address and of all, until one closes', async () => {
  const streams = create({ max: 3 });
  const first = unread();
  streams.open(streams.reserve('a') as Place, first);
  const second = streams.reserve('a') as Place;
  expect(streams.reserve('a')).toBe('too_many_of_address');
  streams.reserve('b');
  expect(streams.reserve('c')).toBe('too_many');
  first.destroy();
  await closed(first);
  second.free();
  second.free();
  expect(streams.count()).toBe(1);
  expect(streams.reserve('a')).not.toEqual(expect.any(String));
});

test('each stream gets one heartbeat per interval, and a client that does not read is disconnected', async () => {
  const streams = create({ maxPerAddress: 100, max: 100 });
  const clients = Array.from({ length: 50 }, reading);
  for (const { response } of clients) streams.open(streams.reserve('a') as Place, response);
  const stuck = unread();
  streams.open(streams.reserve('a') as Place, stuck);
  timers.advanceTimersByTime(HEARTBEAT_MS);
  await closed(stuck);
  expect(streams.count()).toBe(50);
  expect(new Set(clients.map(({ text }) => text().split('event: time').length - 1))).toEqual(new Set([2]));
});

test('sends nothing on a stream that has ended and that its client has not read', async () => {
  const streams = create();
  const stuck = unread();
  const errors: unknown[] = [];
  stuck.on('error', (error) => errors.push(error));
  streams.open(streams.reserve('a') as Place, stuck);
  streams.end();
  send(stuck, 'late');
  await new Promise(setImmediate);
  expect(errors).toEqual([]);
});

test('ends all streams, refuses further ones, and leaves no timer', async () => {
  const streams = create();
  const [open, late] = [reading(), reading()];
  streams.open(streams.reserve('a') as Place, open.response);
  const place = streams.reserve('a') as Place;
  streams.end();
  streams.open(place, late.response);
  await Promise.all([closed(open.response), closed(late.response)]);
  expect(streams.reserve('b')).toBe('too_many');
  expect([streams.count(), timers.getTimerCount()]).toEqual([0, 0]);
});
