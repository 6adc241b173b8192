import { ConfigError } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import { createClockGuard, type OtherClock, type OwnClocks } from './clock-guard.ts';
import type { Bounds, ClockName, Confirmation } from './verdict.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const log = createLogger({ name: 'test', level: 'silent' });
const NOTHING_ENDS = new Date(0);

/** A machine, its clocks and those of others. Each clock is ahead of the true time by so many milliseconds. */
const world = ({ chains = false }: { chains?: boolean } = {}) => {
  let trueMs = Date.parse('2026-01-10T12:00:00Z');
  const startedMs = trueMs - DAY;
  const ahead = { process: 0, postgres: 0, event_store: 0 };
  const silent = new Set<ClockName>(chains ? [] : ['chains']);
  let confirmation: (own: OwnClocks) => Confirmation | null = () => null;
  const steadyMs = () => trueMs - startedMs;
  const clock = (name: ClockName, bounds: () => Bounds): OtherClock => ({
    name,
    read: async () => (silent.has(name) ? null : bounds()),
    isExpected: () => name !== 'chains' || chains,
  });
  const exactly = (ms: number): Bounds => ({ fromMs: ms - steadyMs(), toMs: ms - steadyMs() });
  const guard = createClockGuard({
    now: () => new Date(trueMs + ahead.process),
    steadyMs,
    clocks: [
      clock('postgres', () => exactly(trueMs + ahead.postgres)),
      clock('event_store', () => exactly(trueMs + ahead.event_store)),
      // A block of the last 12 seconds, which may lag by three minutes.
      clock('chains', () => ({ fromMs: trueMs - 12_000 - steadyMs(), toMs: trueMs + 3 * MINUTE - steadyMs() })),
    ],
    readConfirmation: async (own) => confirmation(own),
    log,
  });
  return {
    ...guard,
    ahead,
    silent,
    now: () => new Date(trueMs + ahead.process),
    confirm: (next: typeof confirmation) => void (confirmation = next),
    setAll: (ms: number) => void Object.assign(ahead, { process: ms, postgres: ms, event_store: ms }),
    /** Lets the time pass, and compares once a minute. */
    pass: async (ms: number) => {
      for (const end = trueMs + ms; trueMs < end;) {
        trueMs = Math.min(end, trueMs + MINUTE);
        await guard.compare();
      }
    },
  };
};

const running = async (options?: Parameters<typeof world>[0]) => {
  const started = world(options);
  await started.pass(5 * MINUTE);
  expect(started.isPaused()).toBe(false);
  return started;
};

test('things end by the time of the process while its clock is trusted', async () => {
  const { endsBy, now, details } = await running();
  expect(endsBy()).toEqual(now());
  expect(details()).toEqual({ clock: { skew_seconds: { postgres: 0, event_store: 0 } } });
});

test('nothing ends before the clock was compared with PostgreSQL', async () => {
  const { silent, endsBy, details, compare } = world();
  silent.add('postgres');
  await compare();
  expect(endsBy()).toEqual(NOTHING_ENDS);
  expect(details().clock).toMatchObject({ paused: expect.stringContaining('not compared with that of PostgreSQL') });
});

test('nothing ends while the clock is 40 days ahead, from the first moment on, and it goes on when the clock is back', async () => {
  const { ahead, endsBy, details, now, compare } = await running();
  ahead.process = 40 * DAY;
  expect(endsBy()).toEqual(NOTHING_ENDS); // before any clock is compared again
  await compare();
  expect(details()).toEqual({
    clock: {
      paused:
        'the clock of this process jumped 3456000 s ahead, and is 3456000 s ahead of that of PostgreSQL and 3456000 s ahead of that of the event store',
      skew_seconds: { postgres: -3_456_000, event_store: -3_456_000 },
    },
  });
  ahead.process = 0;
  expect(endsBy()).toEqual(now());
});

test.each([40 * DAY, -HOUR])(
  'nothing ends while the clocks of the whole host are off by %d ms, though they agree',
  async (ms) => {
    const { setAll, isPaused, endsBy, pass, compare } = await running();
    setAll(ms);
    expect(endsBy()).toEqual(NOTHING_ENDS);
    await pass(MINUTE);
    expect(isPaused()).toBe(true);
    setAll(0);
    await compare();
    expect(isPaused()).toBe(false);
  },
);

test('without chains, clocks that jumped together are trusted after an hour', async () => {
  const { setAll, isPaused, pass } = await running();
  setAll(2 * DAY);
  await pass(59 * MINUTE);
  expect(isPaused()).toBe(true);
  await pass(2 * MINUTE);
  expect(isPaused()).toBe(false);
});

test('with chains, clocks that jumped together to a wrong time are never trusted', async () => {
  const { setAll, isPaused, pass, details } = await running({ chains: true });
  setAll(40 * DAY);
  await pass(5 * HOUR);
  expect(isPaused()).toBe(true);
  expect(details().clock).toMatchObject({ paused: expect.stringContaining('ahead of the blocks of the chains') });
});

test('a clock that was set right is trusted as soon as a block proves it', async () => {
  const early = world({ chains: true });
  early.setAll(-2 * HOUR);
  early.silent.add('chains');
  await early.pass(10 * MINUTE);
  expect(early.isPaused()).toBe(false); // nobody could tell
  early.setAll(0);
  await early.compare();
  expect(early.isPaused()).toBe(true);
  early.silent.delete('chains');
  await early.compare();
  expect(early.isPaused()).toBe(false);
});

test('a start with a clock that PostgreSQL contradicts is paused', async () => {
  const { ahead, silent, isPaused, compare } = world();
  silent.add('event_store');
  ahead.process = 10 * MINUTE;
  await compare();
  expect(isPaused()).toBe(true);
  ahead.process = 0;
  expect(isPaused()).toBe(false);
});

test('a start of all clocks 40 days ahead is paused where a chain says so', async () => {
  const { setAll, isPaused, pass } = world({ chains: true });
  setAll(40 * DAY);
  await pass(2 * HOUR);
  expect(isPaused()).toBe(true);
});

test('a start waits two minutes for the first block', async () => {
  const { silent, isPaused, pass } = world({ chains: true });
  silent.add('chains');
  await pass(MINUTE);
  expect(isPaused()).toBe(true);
  await pass(2 * MINUTE);
  expect(isPaused()).toBe(false);
});

test('PostgreSQL alone being ten minutes ahead pauses nothing, and is named', async () => {
  const { ahead, isPaused, pass, details } = world();
  ahead.postgres = 10 * MINUTE;
  await pass(2 * MINUTE);
  expect(isPaused()).toBe(false);
  expect(details()).toEqual({ clock: { skew_seconds: { postgres: 600, event_store: 0 } } });
});

test('blocks that stop coming do not pause a process whose clock ran on', async () => {
  const { silent, isPaused, pass } = await running({ chains: true });
  silent.add('chains');
  await pass(3 * HOUR);
  expect(isPaused()).toBe(false);
});

test('steps that follow each other are a jump together; what NTP corrects slowly is none', async () => {
  const stepping = await running();
  for (let step = 1; step <= 2; step += 1) {
    stepping.setAll(step * 50 * SECOND);
    await stepping.pass(MINUTE);
  }
  expect(stepping.isPaused()).toBe(true);
  const slewing = await running();
  for (let minute = 1; minute <= 120; minute += 1) {
    slewing.setAll(minute * 5 * SECOND);
    await slewing.pass(MINUTE);
  }
  expect(slewing.isPaused()).toBe(false);
});

test("an operator's word ends the pause at once, and counts for one jump only", async () => {
  const { setAll, isPaused, pass, confirm, now, compare } = await running();
  setAll(40 * DAY);
  await pass(MINUTE);
  confirm(({ steadyMs }) => ({ id: 7, offsetMs: now().getTime() - steadyMs(), isRecent: true }));
  await compare();
  expect(isPaused()).toBe(false);
  setAll(80 * DAY);
  await pass(MINUTE);
  expect(isPaused()).toBe(true);
});

test('an operator who names another time does not end the pause', async () => {
  const { setAll, isPaused, confirm, now, compare } = await running();
  setAll(40 * DAY);
  confirm(({ steadyMs }) => ({ id: 7, offsetMs: now().getTime() - 40 * DAY - steadyMs(), isRecent: true }));
  await compare();
  expect(isPaused()).toBe(true);
});

test('a difference that an operator accepted pauses nothing as long as it stays', async () => {
  const { ahead, silent, isPaused, pass, confirm, now, compare } = world();
  silent.add('event_store');
  ahead.postgres = HOUR;
  await compare();
  expect(isPaused()).toBe(true);
  confirm(({ steadyMs }) => ({ id: 1, offsetMs: now().getTime() - steadyMs(), isRecent: true }));
  await pass(5 * MINUTE);
  expect(isPaused()).toBe(false);
  ahead.postgres = 2 * HOUR;
  await compare();
  expect(isPaused()).toBe(true);
});

test('a clock that cannot be read because of a wrong setting is logged once', async () => {
  const lines: string[] = [];
  const refused = async () => Promise.reject(new ConfigError('the role may not read it'));
  const guard = createClockGuard({
    now: () => new Date(),
    clocks: [
      { name: 'chains', read: refused },
      { name: 'postgres', read: async () => Promise.reject(new Error('an outage')) },
    ],
    readConfirmation: refused,
    log: createLogger({ name: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } }),
  });
  await guard.compare();
  await guard.compare();
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: 'error',
      msg: 'a clock is missing',
      err: expect.objectContaining({ message: 'the role may not read it' }),
    }),
  ]);
});
