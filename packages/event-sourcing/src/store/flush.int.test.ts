import { isDeepStrictEqual } from 'node:util';
import { createLogger } from '@cpg/platform';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { startTestStore } from '../testing/jest-event-store.ts';
import { until } from '../testing/jest-until.ts';
import type { LogPosition } from './recorded.ts';
import { runSubscription } from './subscription.ts';

const log = createLogger({ name: 'test', level: 'silent' });

const NEVER = 600_000;
let store: Awaited<ReturnType<typeof startTestStore>>;
let client: EventStoreDBClient;
beforeAll(async () => {
  store = await startTestStore();
  client = store.client;
});
afterAll(() => store.stop());

const append = async (prefix: string, count: number): Promise<LogPosition> => {
  const events = Array.from({ length: count }, (_, n) => jsonEvent({ type: 'Numbered', data: { n } }));
  const { position } = await client.appendToStream(`${prefix}1`, events);
  return { commit: String(position!.commit), prepare: String(position!.prepare) };
};
/** Starts a subscription whose checkpoint is the position flushed last. */
const start = (prefix: string, timing: { idleMs: number; maxDelayMs: number }, fault: () => void = () => {}) => {
  const stopping = new AbortController();
  const flushed: LogPosition[] = [];
  const handled: number[] = [];
  const ended = runSubscription({
    client,
    prefixes: [prefix],
    checkpoint: async () => flushed.at(-1) ?? null,
    signal: stopping.signal,
    log,
    handle: async (events) => void handled.push(...events.map(({ event }) => Number(event!.revision))),
    flush: {
      ...timing,
      run: async ({ commit, prepare }) => {
        fault();
        flushed.push({ commit, prepare });
      },
    },
  });
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  return { flushed, handled, stop };
};

test('flushes once no event arrives for a while', async () => {
  const { flushed, stop } = start('quiet-', { idleMs: 10, maxDelayMs: NEVER });
  const last = await append('quiet-', 3);
  // On a busy machine a pause between the events can cause an earlier flush.
  await until(() => isDeepStrictEqual(flushed.at(-1), last));
  await stop();
});

test('flushes after the maximum delay under continuous load', async () => {
  const { flushed, stop } = start('busy-', { idleMs: NEVER, maxDelayMs: 20 });
  while (flushed.length < 3) await append('busy-', 1);
  const commits = flushed.map(({ commit }) => BigInt(commit));
  expect(commits).toEqual([...commits].sort((a, b) => (a < b ? -1 : 1)));
  await stop();
});

test('flushes before it stops', async () => {
  const { flushed, handled, stop } = start('stop-', { idleMs: NEVER, maxDelayMs: NEVER });
  const last = await append('stop-', 2);
  await until(() => handled.length === 2);
  expect(flushed).toEqual([]);
  await stop();
  expect(flushed).toEqual([last]);
});

test('handles events again from the last flushed position when a flush fails', async () => {
  let faults = 0;
  const { flushed, handled, stop } = start('fault-', { idleMs: 200, maxDelayMs: NEVER }, () => {
    if (handled.length === 3 && faults++ === 0) throw new Error('not this time');
  });
  const first = await append('fault-', 1);
  await until(() => flushed.length === 1);
  const last = await append('fault-', 2);
  await until(() => flushed.length === 2);
  expect(flushed).toEqual([first, last]);
  expect(handled).toEqual([0, 1, 2, 1, 2]);
  await stop();
});
