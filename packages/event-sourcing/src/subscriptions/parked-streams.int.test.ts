import { AppError } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { startTallies } from '../testing/jest-tallies.ts';
import { listParkedStreams, parkedStreams } from './parked-streams.ts';

let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeAll(async () => {
  tallies = await startTallies();
});
afterAll(() => tallies.stop());
beforeEach(() => tallies.pool.query('truncate tallies.parked_streams'));

/** The parked streams of a subscription, with the lines that it logs. */
const start = (name = 'relay', has?: (event: AllStreamResolvedEvent) => Promise<boolean>) => {
  const lines: string[] = [];
  const line =
    (level: string) =>
    ({ stream, parked }: { stream?: string; parked?: number }, text: string) =>
      void lines.push([level, stream ?? parked, text].join(' '));
  const log = { info: line('info'), warn: line('warn'), error: line('error') } as unknown as Logger;
  const { client } = tallies.options();
  const parked = parkedStreams({
    client,
    pool: tallies.pool,
    schema: 'tallies',
    name,
    log,
    ...(has && { isOwn: has }),
  });
  return { ...parked, lines };
};
const entryOf = async (stream: string, revision: number): Promise<AllStreamResolvedEvent> => {
  for await (const entry of tallies.options().client.readAll())
    if (entry.event?.streamId === stream && Number(entry.event.revision) === revision) return entry;
  throw new Error(`${stream} has no event ${revision}`);
};
const rows = async () =>
  (
    await tallies.pool.query(
      `select subscription, stream, revision::int, event_id, event_type, reason from tallies.parked_streams
       order by subscription, stream`,
    )
  ).rows as { subscription: string; stream: string; revision: number; reason: string }[];
const placesOf = async () =>
  (await rows()).map(({ subscription, stream, revision }) => `${subscription} ${stream} ${revision}`);

test('a parked stream is durable, with its event and the reason', async () => {
  for (const n of [1, 2]) await tallies.tally('saved', n);
  const { park, has, lines } = start();
  const entry = await entryOf('tally-saved', 1);
  await park(entry, new TypeError('a \0 bug'));
  expect(await rows()).toEqual([
    {
      subscription: 'relay',
      stream: 'tally-saved',
      revision: 1,
      event_id: entry.event!.id,
      event_type: 'Tallied',
      reason: 'TypeError: a  bug',
    },
  ]);
  expect([has('tally-saved'), has('tally-other')]).toEqual([true, false]);
  expect(lines).toEqual(['error tally-saved event cannot be handled: its stream is parked']);
});

test('parking again tells the newest event and reason, and counts as a try', async () => {
  for (const n of [1, 2]) await tallies.tally('again', n);
  const { park } = start();
  await park(await entryOf('tally-again', 0), new Error('first'));
  await tallies.pool.query("update tallies.parked_streams set tried_at = '2000-01-01', parked_at = '2000-01-01'");
  await park(await entryOf('tally-again', 1), 'no error at all');
  expect(await rows()).toMatchObject([{ revision: 1, reason: 'no error at all' }]);
  const tried = 'select from tallies.parked_streams where tried_at > parked_at';
  expect((await tallies.pool.query(tried)).rowCount).toBe(1);
});

test('a subscription knows its own parked streams alone, anew with each load', async () => {
  await tallies.tally('own', 1);
  await tallies.tally('others', 1);
  await start().park(await entryOf('tally-own', 0), new Error('x'));
  await start('projection').park(await entryOf('tally-others', 0), new Error('x'));
  const { load, has, isRetryDue } = start();
  expect(isRetryDue()).toBe(false);
  await load();
  expect([has('tally-own'), has('tally-others'), isRetryDue()]).toEqual([true, false, true]);
  await tallies.pool.query('truncate tallies.parked_streams');
  await load();
  expect([has('tally-own'), isRetryDue()]).toEqual([false, false]);
});

test('a retry handles each stream from its parked event on, and forgets those that succeed', async () => {
  for (const id of ['good', 'bad']) for (const n of [1, 2, 3]) await tallies.tally(id, n);
  await start('projection').park(await entryOf('tally-good', 1), new Error('x'));
  const { park, retry, has, lines } = start();
  await park(await entryOf('tally-good', 1), new Error('x'));
  await park(await entryOf('tally-bad', 1), new Error('x'));
  const handled: string[] = [];
  await retry(async ({ event }) => {
    const name = `${event!.streamId} ${event!.revision}`;
    if (name === 'tally-bad 2') throw new Error('still');
    handled.push(name);
  });
  expect(handled).toEqual(['tally-good 1', 'tally-good 2', 'tally-bad 1']);
  expect(await placesOf()).toEqual(['projection tally-good 1', 'relay tally-bad 2']);
  expect((await rows()).at(-1)).toMatchObject({ reason: 'Error: still' });
  expect([has('tally-good'), has('tally-bad')]).toEqual([false, true]);
  expect(lines.slice(2)).toEqual(['info tally-good parked stream was handled', 'warn 1 streams are still parked']);
});

test('an outage ends a retry, and nothing is forgotten', async () => {
  await tallies.tally('outage', 1);
  const { park, retry, has } = start();
  await park(await entryOf('tally-outage', 0), new Error('first'));
  const outage = new AppError('dependency_unavailable', 'away');
  await expect(retry(() => Promise.reject(outage))).rejects.toBe(outage);
  expect(await rows()).toMatchObject([{ reason: 'Error: first' }]);
  expect(has('tally-outage')).toBe(true);
});

test('a stream of another shard stays parked', async () => {
  await tallies.tally('elsewhere', 1);
  const { park, retry } = start('relay', async () => false);
  await park(await entryOf('tally-elsewhere', 0), new Error('x'));
  let handled = 0;
  await retry(async () => void (handled += 1));
  expect([handled, await placesOf()]).toEqual([0, ['relay tally-elsewhere 0']]);
});

test('a retry takes the hundred streams that were tried longest ago', async () => {
  await tallies.pool.query(
    `insert into tallies.parked_streams (subscription, stream, revision, tried_at)
     select 'relay', 'tally-never-' || n, 0, now() - n * interval '1 minute' from generate_series(1, 103) as n`,
  );
  const { load, retry } = start();
  await load();
  // These streams have no event any more.
  await retry(async () => {});
  expect(await placesOf()).toEqual([1, 2, 3].map((n) => `relay tally-never-${n} 0`));
});

test('a retry is due five minutes after the last one', async () => {
  await tallies.tally('due', 1);
  const { park, retry, isRetryDue } = start();
  await park(await entryOf('tally-due', 0), new Error('x'));
  const { now } = performance;
  let atMs = 1_000_000;
  performance.now = () => atMs;
  try {
    expect(isRetryDue()).toBe(true);
    await retry(() => Promise.reject(new Error('still')));
    const due = [];
    for (const afterMs of [0, 299_999, 300_000]) {
      atMs = 1_000_000 + afterMs;
      due.push(isRetryDue());
    }
    expect(due).toEqual([false, false, true]);
  } finally {
    performance.now = now;
  }
});

test('lists parked streams, oldest first', async () => {
  await tallies.pool.query(
    `insert into tallies.parked_streams (subscription, stream, revision, event_type, reason, parked_at)
     values ('relay', 'b', 2, 'T', 'why', '2026-01-02Z'), ('relay', 'c', 3, 'T', 'why', '2026-01-01Z'),
            ('projection', 'a', 1, 'T', 'why', '2026-01-02Z')`,
  );
  const listed = await listParkedStreams(tallies.pool, 'tallies');
  expect(listed.map(({ stream, revision }) => `${stream} ${revision}`)).toEqual(['c 3', 'a 1', 'b 2']);
  expect(listed[1]).toEqual({
    subscription: 'projection',
    stream: 'a',
    revision: 1,
    type: 'T',
    reason: 'why',
    parkedAt: '2026-01-02T00:00:00.000Z',
  });
});
