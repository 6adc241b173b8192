import { Readable } from 'node:stream';
import { LIMIT_MS, type OwnClocks } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { eventStoreClock } from './event-store-clock.ts';

/** An event store whose newest event was created at so many ms of its own clock. Each look takes 10 ms. */
const start = () => {
  let newest: { position: bigint; createdMs: number } | null = null;
  let steadyMs = 0;
  let aheadMs = 0;
  const client = {
    readAll: () => {
      steadyMs += 10;
      const { position, createdMs } = newest ?? {};
      return Readable.from(
        newest ? [{ event: { position: { commit: position }, created: new Date(createdMs!) } }] : [],
      );
    },
  } as unknown as EventStoreDBClient;
  const own: OwnClocks = { now: () => new Date(steadyMs + aheadMs), steadyMs: () => steadyMs };
  const { read, name } = eventStoreClock(client);
  return {
    name,
    /** Looks at a steady time. */
    look: (atMs: number) => {
      steadyMs = atMs;
      return read(own);
    },
    append: (createdMs: number) => void (newest = { position: (newest?.position ?? 0n) + 1n, createdMs }),
    empty: () => void (newest = null),
    setWall: (ms: number) => void (aheadMs = ms),
  };
};

test('an empty store, and an event that was there before, say nothing', async () => {
  const { look, append, empty, name } = start();
  expect(name).toBe('event_store');
  expect(await look(0)).toBeNull();
  append(5);
  expect(await look(100)).toEqual({ fromMs: 5 - 110, toMs: 5 - 0 });
  expect(await look(200)).toBeNull();
  empty();
  expect(await look(300)).toBeNull();
});

test('an event between two looks was made after the first question and before the second answer', async () => {
  const { look, append } = start();
  append(1_000);
  await look(1_000);
  append(7_050);
  expect(await look(2_000)).toEqual({ fromMs: 7_050 - 2_010, toMs: 7_050 - 1_000 });
});

test('several events narrow the bounds, as far as they agree', async () => {
  const { look, append } = start();
  append(0);
  await look(0);
  append(600);
  expect(await look(1_000)).toEqual({ fromMs: -410, toMs: 600 });
  append(1_100);
  expect(await look(1_200)).toEqual({ fromMs: -110, toMs: 100 });
  append(1_900);
  expect(await look(3_000)).toEqual({ fromMs: -110, toMs: 100 });
});

test.each([
  ['forwards', 60_000],
  ['back', -60_000],
])('after the clock was set %s, only the newest event counts', async (_, setMs) => {
  const { look, append } = start();
  append(0);
  await look(0);
  append(600);
  await look(1_000);
  append(1_500 + setMs);
  expect(await look(2_000)).toEqual({ fromMs: 1_500 + setMs - 2_010, toMs: 1_500 + setMs - 1_000 });
});

test.each([
  [LIMIT_MS, null],
  [LIMIT_MS + 1, { fromMs: LIMIT_MS + 1, toMs: LIMIT_MS + 1 }],
])(
  'an event from %i ms in the future shows a clock that is ahead, if that is more than it may be',
  async (ms, bounds) => {
    const { look, append } = start();
    append(10 + ms);
    expect(await look(0)).toEqual(bounds);
  },
);

test('a wall clock that is right explains an old event', async () => {
  const { look, append, setWall } = start();
  setWall(10 * LIMIT_MS);
  append(10 * LIMIT_MS);
  expect(await look(0)).toBeNull();
});
