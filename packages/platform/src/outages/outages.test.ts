import { AppError } from '@cpg/contracts';
import { ConfigError } from '../config/config.ts';
import { createServiceLog } from './outages.ts';

const timers = (import.meta as unknown as { jest: typeof jest }).jest;

beforeEach(() => void timers.useFakeTimers());
afterEach(() => void timers.useRealTimers());

interface Line {
  readonly msg: string;
  readonly level: string;
  readonly [field: string]: unknown;
}

const start = () => {
  const lines: Line[] = [];
  const { log, outages } = createServiceLog({
    name: 'test',
    level: 'info',
    destination: { write: (line) => void lines.push(JSON.parse(line) as Line) },
  });
  let isDown = false;
  const check = outages.watch('eventstore', {
    check: async () => {
      if (isDown) throw new Error('connect ECONNREFUSED');
    },
  });
  return {
    log,
    outages,
    check,
    lines: () => lines.map(({ msg, dependency, outageMs, refused }) => ({ msg, dependency, outageMs, refused })),
    records: () => lines,
    down: () => void (isDown = true),
    up: () => void (isDown = false),
    pass: (ms: number) => timers.advanceTimersByTimeAsync(ms),
  };
};

const unavailable = (cause?: unknown, dependency = 'eventstore') =>
  new AppError('dependency_unavailable', 'try again', { cause, dependency });

test('an outage is one line when it begins and one when it ends, with its time and the refused requests', async () => {
  const { outages, lines, records, down, up, pass } = start();
  down();
  for (let n = 0; n < 500; n += 1) {
    outages.refused(unavailable(new Error('connect ECONNREFUSED')));
    await pass(20);
  }
  up();
  await pass(10_000);
  expect(lines()).toEqual([
    { msg: 'outage began', dependency: 'eventstore' },
    { msg: 'outage ended', dependency: 'eventstore', outageMs: expect.any(Number), refused: 500 },
  ]);
  expect(records()[0]).toMatchObject({ level: 'warn', reason: 'connect ECONNREFUSED' });
  const { outageMs } = lines()[1]!;
  expect(outageMs).toBeGreaterThanOrEqual(10_000);
  expect(outageMs).toBeLessThan(11_100);
});

test('a late failure does not begin another outage', async () => {
  const { outages, lines, down, up, pass } = start();
  down();
  outages.failed(unavailable());
  await pass(3_000);
  up();
  await pass(1_500);
  outages.refused(unavailable());
  await pass(10_000);
  expect(lines().map(({ msg, refused }) => [msg, refused])).toEqual([
    ['outage began', undefined],
    ['outage ended', 1],
  ]);
});

test('two outages apart are two pairs of lines, and dependencies have their own', async () => {
  const { outages, lines, pass } = start();
  outages.failed(unavailable());
  outages.failed(unavailable(undefined, 'payments'));
  await pass(20_000);
  outages.failed(unavailable());
  await pass(20_000);
  const of = (name: string) => lines().filter(({ dependency }) => dependency === name);
  expect(of('eventstore').map(({ msg }) => msg)).toEqual([
    'outage began',
    'outage ended',
    'outage began',
    'outage ended',
  ]);
  expect(of('payments').map(({ msg }) => msg)).toEqual(['outage began', 'outage ended']);
});

test('an error line of an outage is counted as part of it; other errors stay loud', async () => {
  const { log, outages, lines } = start();
  log.warn({ err: unavailable() }, 'subscription failed, retrying');
  log.error({ err: new AppError('outcome_unknown', 'perhaps', { cause: unavailable() }) }, 'request failed');
  log.error({ err: new Error('this event cannot be read') }, 'request failed');
  log.error({ err: new AppError('concurrent_update', 'busy') }, 'request failed');
  expect(lines().map(({ msg }) => msg)).toEqual(['outage began', 'request failed', 'request failed']);
  expect([outages.failed(new Error('a bug')), outages.refused(new AppError('internal_error', 'a bug'))]).toEqual([
    false,
    false,
  ]);
});

test('a raw error belongs to the dependency that owns it', () => {
  const { outages, lines } = start();
  const lost = new Error('Connection terminated');
  outages.watch('postgres', { owns: (error) => error === lost });
  outages.failed(new AppError('outcome_unknown', 'perhaps', { cause: lost }));
  expect(lines()).toMatchObject([{ dependency: 'postgres' }]);
});

test('a wait ends as soon as a dependency is back', async () => {
  const { outages, down, up, pass } = start();
  down();
  outages.failed(unavailable());
  let ended = 0;
  void outages.wait(60_000).then(() => (ended += 1));
  await pass(10_000);
  expect(ended).toBe(0);
  up();
  await pass(1_000);
  expect(ended).toBe(1);
});

test('a wait ends after its time, and rejects when it is aborted', async () => {
  const { outages, pass } = start();
  const waited = outages.wait(100).then(() => 'waited');
  await pass(100);
  await expect(waited).resolves.toBe('waited');
  const stopping = new AbortController();
  const aborted = expect(outages.wait(60_000, stopping.signal)).rejects.toThrow('abort');
  stopping.abort();
  await aborted;
  await expect(outages.wait(60_000, stopping.signal)).rejects.toThrow('abort');
});

test('a failed readiness check begins an outage, and a request finds it counted', async () => {
  const { outages, check, lines, down, up, pass } = start();
  await check();
  down();
  await expect(check()).rejects.toThrow('connect ECONNREFUSED');
  expect(outages.ongoing()).toEqual(['eventstore']);
  up();
  await pass(5_000);
  expect(outages.ongoing()).toEqual([]);
  expect(outages.totals()).toEqual({ eventstore: { isOngoing: false, outages: 1, refused: 0 } });
  expect(lines()).toHaveLength(2);
});

test.each([
  ['PostgreSQL', Object.assign(new Error('could not extend file'), { code: '53100' })],
  ['the event store', new Error('2 UNKNOWN: write: No space left on device')],
  ['Kafka', Object.assign(new Error('Disk error'), { type: 'KAFKA_STORAGE_ERROR' })],
])('a service that found the disk of %s full is not ready for five seconds, though reads succeed', async (_, cause) => {
  const { outages, check, lines, pass } = start();
  outages.refused(unavailable(cause));
  await pass(4_500);
  await expect(check()).rejects.toThrow('disk full');
  await pass(1_000);
  await check();
  // The next write fails again.
  outages.refused(unavailable(cause));
  await expect(check()).rejects.toThrow('disk full');
  await pass(30_000);
  expect(lines().map(({ msg, refused }) => [msg, refused])).toEqual([
    ['outage began', undefined],
    ['outage ended', 2],
  ]);
});

test('an outage of something without a check ends ten seconds after its last failure', async () => {
  const { outages, lines, pass } = start();
  outages.refused(unavailable(undefined, 'rates'));
  await pass(8_000);
  outages.refused(unavailable(undefined, 'rates'));
  await pass(9_000);
  expect(lines()).toHaveLength(1);
  await pass(3_000);
  expect(lines()[1]).toMatchObject({ outageMs: 8_000, refused: 2 });
});

test('after stop nothing is checked any more', async () => {
  const { outages, lines, pass } = start();
  outages.failed(unavailable());
  outages.stop();
  await pass(60_000);
  expect(lines()).toHaveLength(1);
});

test('a wrong setting is logged once in an outage, as an error, however often it is found', async () => {
  const { outages, records, pass } = start();
  const wrong = new ConfigError('correct the password', { cause: new Error('401') });
  for (let n = 0; n < 3; n += 1) outages.refused(unavailable(wrong));
  outages.refused(unavailable(new ConfigError('correct the name')));
  outages.refused(unavailable(wrong));
  expect(records().map(({ level, msg, reason }) => [level, msg, reason])).toEqual([
    ['warn', 'outage began', '401'],
    ['error', 'dependency is misconfigured', 'correct the password'],
    ['error', 'dependency is misconfigured', 'correct the name'],
  ]);
  await pass(10_000);
});
