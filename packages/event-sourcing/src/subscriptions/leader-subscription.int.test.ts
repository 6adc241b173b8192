import { createLogger } from '@cpg/platform';
import { jsonEvent } from '@eventstore/db-client';
import { endOfLog } from '../store/log.ts';
import { startTallies } from '../testing/jest-tallies.ts';
import { FencedError } from './checkpoint.ts';
import { UnknownStoreError } from './known-store.ts';
import {
  type LeaderSubscriptionOptions,
  type Shard,
  subscribeAsLeader,
  type SubscriptionWork,
} from './leader-subscription.ts';
import { until } from '../testing/jest-until.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const NEVER = 600_000;
let tallies: Awaited<ReturnType<typeof startTallies>>;
let serial = 0;
beforeAll(async () => {
  tallies = await startTallies();
});
afterAll(() => tallies.stop());
beforeEach(() => tallies.pool.query('truncate tallies.checkpoints, tallies.parked_streams'));

const record = (stream: string, count = 1) =>
  tallies.options().client.appendToStream(
    stream,
    Array.from({ length: count }, () => jsonEvent({ type: 'Happened', data: {} })),
  );
const newPrefix = () => `led${(serial += 1)}-`;
const nameOf = ({ event }: { event?: { streamId: string; revision: bigint } }) =>
  `${event!.streamId}#${event!.revision}`;

const start = (
  prefix: string,
  work: Partial<SubscriptionWork> & { onBatch?: (names: string[]) => Promise<void> | void } = {},
  { shard = {}, ...changes }: Partial<LeaderSubscriptionOptions> & { shard?: Partial<Shard> } = {},
) => {
  const { client, databaseUrl } = tallies.options();
  const handled: string[] = [];
  const parked: string[] = [];
  const { onBatch = () => {}, ...rest } = work;
  const { stop } = subscribeAsLeader(
    { client, pool: tallies.pool, databaseUrl, schema: 'tallies', name: 'led', prefixes: [prefix], log, ...changes },
    { checkpoint: 'led', onRetired: () => {}, ...shard },
    {
      handle: async (events, position, checkpoint) => {
        await onBatch(events.map(nameOf));
        handled.push(...events.map(nameOf));
        if (!work.flush) await checkpoint.save(tallies.pool, position);
      },
      handleParked: async (event) => void parked.push(nameOf(event)),
      ...rest,
    },
  );
  return { handled, parked, stop };
};
const savedAt = async () =>
  (
    await tallies.pool.query<{ event_stream: string }>(
      "select event_stream from tallies.checkpoints where name = 'led'",
    )
  ).rows[0]?.event_stream ?? null;

test('handles the events of its shard, and saves the position of all', async () => {
  const prefix = newPrefix();
  for (const stream of ['a', 'b', 'c']) await record(prefix + stream);
  const has = async ({ event }: { event?: { streamId: string } }) => !event!.streamId.endsWith('c');
  const { handled, stop } = start(prefix, {}, { shard: { has } });
  await until(async () => (await savedAt()) === `${prefix}c`);
  await stop();
  expect(handled).toEqual([`${prefix}a#0`, `${prefix}b#0`]);
});

test('begins once the store is known, after it fenced earlier leaders, and closes its work at the end', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`);
  const steps: string[] = [];
  const step = (name: string) => async () => void steps.push(name);
  const { stop } = start(
    prefix,
    { fencePredecessors: step('fence'), close: step('close'), onBatch: step('handle') },
    { store: { untilKnown: step('known'), recheck: () => {} } },
  );
  await until(savedAt);
  await stop();
  expect(steps).toEqual(['known', 'fence', 'handle', 'close']);
});

test('another leader fences it: it stops at once, and campaigns again', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`);
  let fences = 1;
  const { handled, stop } = start(prefix, {
    onBatch: () => {
      if ((fences -= 1) >= 0) throw new FencedError('another process');
    },
  });
  await until(savedAt);
  const { rows } = await tallies.pool.query("select epoch::int from tallies.checkpoints where name = 'led'");
  await stop();
  expect(rows).toEqual([{ epoch: 2 }]);
  expect(handled).toEqual([`${prefix}a#0`]);
});

test('a checkpoint that does not know the store asks to check it again', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`);
  await tallies.pool.query("insert into tallies.checkpoints (name, epoch, store_id) values ('led', 1, 'sto_other')");
  let checks = 0;
  const warned: unknown[] = [];
  const warn = ({ err }: { err: unknown }) => void warned.push(err);
  const { handled, stop } = start(
    prefix,
    {},
    {
      store: { untilKnown: async () => {}, recheck: () => void (checks += 1) },
      log: { ...log, info: () => {}, warn },
    },
  );
  await until(() => checks > 0);
  await until(() => warned.length > 0);
  await stop();
  expect(warned[0]).toBeInstanceOf(UnknownStoreError);
  expect(handled).toEqual([]);
});

test('a retired checkpoint ends its work for good, and says so once', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`);
  await tallies.pool.query("insert into tallies.checkpoints (name, epoch, retired_at) values ('led', 1, now())");
  let retired = 0;
  const { handled, stop } = start(prefix, {}, { shard: { onRetired: () => void (retired += 1) } });
  await until(() => retired > 0);
  await stop();
  expect([retired, handled]).toEqual([1, []]);
});

test('streams that were parked before are tried again at the start, from their parked event on', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`, 2);
  await tallies.pool.query(
    "insert into tallies.parked_streams (subscription, stream, revision) values ('led', $1, 1)",
    [`${prefix}a`],
  );
  const { parked, stop } = start(prefix);
  await until(savedAt);
  await stop();
  expect(parked).toEqual([`${prefix}a#1`]);
  expect((await tallies.pool.query('select from tallies.parked_streams')).rowCount).toBe(0);
});

test('a stream that cannot be handled is parked, and tried again with the next events', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`);
  let isBroken = true;
  const { parked, stop } = start(prefix, {
    onBatch: (names) => {
      if (isBroken && names.some((name) => name === `${prefix}a#0`)) throw new TypeError('a bug');
    },
  });
  await until(async () => (await tallies.pool.query('select from tallies.parked_streams')).rowCount === 1);
  isBroken = false;
  await until(savedAt);
  await record(`${prefix}b`);
  await until(async () => (await savedAt()) === `${prefix}b`);
  await stop();
  expect(parked).toEqual([`${prefix}a#0`]);
});

test.each([
  ['with the handled batch', null],
  ['with the flush', { idleMs: 1, maxDelayMs: NEVER }],
])('the lag of the checkpoint ends %s', async (_, timing) => {
  const prefix = newPrefix();
  await record(`${prefix}a`);
  const steps: string[] = [];
  const lags = {
    measure: (checkpoint: string) => ({
      received: (events: readonly unknown[]) => void steps.push(`${checkpoint} received ${events.length}`),
      completed: () => void steps.push('completed'),
      end: () => void steps.push('end'),
    }),
  };
  const { stop } = start(
    prefix,
    {
      onBatch: () => void steps.push('handled'),
      ...(timing && {
        flush: {
          ...timing,
          run: async (position, checkpoint) => {
            steps.push('flushed');
            await checkpoint.save(tallies.pool, position);
          },
        },
      }),
    },
    { lags },
  );
  await until(() => steps.includes('completed'));
  await stop();
  expect(steps).toEqual(['led received 1', 'handled', ...(timing ? ['flushed'] : []), 'completed', 'end']);
});

test('the position of the last event is kept, and nothing is handled again', async () => {
  const prefix = newPrefix();
  await record(`${prefix}a`);
  const first = start(prefix);
  await until(savedAt);
  await first.stop();
  await record(`${prefix}a`);
  const second = start(prefix);
  await until(() => second.handled.length > 0);
  await second.stop();
  expect([first.handled, second.handled]).toEqual([[`${prefix}a#0`], [`${prefix}a#1`]]);
  expect((await endOfLog(tallies.options().client))!.event!.stream).toBe(`${prefix}a`);
});
