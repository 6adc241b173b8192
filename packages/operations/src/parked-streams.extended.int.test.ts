import {
  connectEventStore,
  listParkedStreams,
  startProjection,
  startRelay,
  UnreadableEventError,
} from '@cpg/event-sourcing';
import type { Publisher } from '@cpg/platform/kafka';
import { createPool } from '@cpg/platform/postgres';
import { createLogger } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { rebuild } from './read-models/rebuild.ts';
import { startTallies } from '../../event-sourcing/src/testing/jest-tallies.ts';
import { until } from '../../event-sourcing/src/testing/jest-until.ts';

const log = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
let tallies: Awaited<ReturnType<typeof startTallies>>;
let options: Pick<Parameters<typeof startRelay>[0], 'client' | 'pool' | 'databaseUrl' | 'log'>;

beforeEach(async () => {
  tallies = await startTallies();
  const { databaseUrl, eventStoreUrl } = tallies;
  const pool = createPool({ url: databaseUrl, name: 'followers', max: 4, log });
  options = { client: connectEventStore(eventStoreUrl), pool, databaseUrl, log };
});

afterEach(async () => {
  await options.client.dispose();
  await options.pool.end();
  await tallies.stop();
});

const nameOf = ({ event }: AllStreamResolvedEvent) => `${event!.streamId}#${event!.revision}`;
/** What a relay published since it last began at the first event.
 *  On a busy machine, a relay that PostgreSQL did not hear for 4 s begins again. */
const sinceFirst = (ids: readonly string[]) => ids.slice(ids.lastIndexOf('tally-a#0'));
const parked = async () =>
  (await listParkedStreams(tallies.pool, 'tallies')).map(
    ({ subscription, stream, revision, reason }) => `${subscription} ${stream} ${revision} ${reason}`,
  );
const unreadable = new UnreadableEventError({ stream: 'tally-a', revision: 1, type: 'Tallied' }, new Error('a schema'));

/** Runs a relay whose version cannot make the message of `faulty`. */
const relayProcess = (faulty: string | null, fault: unknown) => {
  const published: string[] = [];
  const publisher: Publisher = {
    open: async () => {},
    send: async (_topic, messages) => void published.push(...messages.map(({ id }) => id)),
    commit: async () => {},
    close: async () => {},
  };
  const { schema, prefixes } = tallies.projection;
  const messageOf = async (entry: AllStreamResolvedEvent) => {
    if (nameOf(entry) === faulty) throw fault;
    return { id: nameOf(entry) } as never;
  };
  return {
    published,
    ...startRelay({ ...options, schema, prefixes, publisherFor: () => publisher, topic: 'orders.v1', messageOf }),
  };
};

test.each([
  [
    'an event that cannot be read',
    unreadable,
    'UnreadableEventError: event 1 (Tallied) of stream tally-a cannot be read',
  ],
  ['a bug', new TypeError('a bug'), 'TypeError: a bug'],
])('%s parks its stream, and a fixed version publishes the rest in order', async (_, fault, reason) => {
  for (const [id, n] of [
    ['a', 1],
    ['b', 1],
    ['a', 2],
    ['a', 3],
    ['b', 2],
  ] as const)
    await tallies.tally(id, n);
  const faulty = relayProcess('tally-a#1', fault);
  await until(() => faulty.published.includes('tally-b#1'));
  expect(sinceFirst(faulty.published)).toEqual(['tally-a#0', 'tally-b#0', 'tally-b#1']);
  await tallies.tally('a', 4);
  await tallies.tally('b', 3);
  await until(() => faulty.published.includes('tally-b#2'));
  await faulty.stop();
  expect(sinceFirst(faulty.published)).toHaveLength(4);
  expect(await parked()).toEqual([expect.stringContaining(`relay tally-a 1 ${reason}`)]);

  const fixed = relayProcess(null, null);
  await tallies.tally('a', 5);
  await until(() => fixed.published.includes('tally-a#4'));
  await fixed.stop();
  expect([...new Set(fixed.published.filter((id) => id.startsWith('tally-a')))]).toEqual(
    [1, 2, 3, 4].map((revision) => `tally-a#${revision}`),
  );
  expect(fixed.published[0]).toBe('tally-a#1');
  expect(await parked()).toEqual([]);
});

/** Runs the projection of tallies; `before` may throw. */
const projectionProcess = (before: (entry: AllStreamResolvedEvent) => void) => {
  const { apply } = tallies.projection;
  const projection = {
    ...tallies.projection,
    apply: async (...[db, events, schema]: Parameters<typeof apply>) => {
      events.forEach(before);
      await apply(db, events, schema);
    },
  };
  return { projection, ...startProjection({ ...options, projection, pauseMs: () => 0 }) };
};
const appendOnly = async (id: string, n: number) => {
  await tallies.tally(id, n);
  await tallies.pool.query('truncate tallies.tallies');
};

test('a row stays at the last event that can be read, live and after a rebuild, until a fixed version runs', async () => {
  for (const n of [1, 2, 3]) await appendOnly('a', n);
  await appendOnly('b', 1);
  const faulty = projectionProcess((entry) => {
    if (nameOf(entry) === 'tally-a#1') throw unreadable;
  });
  await until(async () => (await parked()).length === 1);
  await until(async () => (await tallies.revisionOf('b')) === 0);
  expect(await tallies.revisionOf('a')).toBe(0);
  const found: string[] = [];
  const onUnreadable = ({ message }: Error) => void found.push(message);
  await rebuild({ ...tallies.options(), projection: faulty.projection, onUnreadable });
  expect(found).toEqual([unreadable.message]);
  expect([await tallies.revisionOf('a'), await tallies.revisionOf('b')]).toEqual([0, 0]);
  await tallies.remove('b');
  await faulty.stop();

  const fixed = projectionProcess(() => {});
  await until(async () => (await tallies.revisionOf('a')) === 2);
  await fixed.stop();
  expect(await parked()).toEqual([]);
});

test('an outage parks nothing', async () => {
  for (const n of [1, 2]) await appendOnly('a', n);
  let failures = 0;
  const running = projectionProcess(() => {
    if ((failures += 1) <= 6) throw Object.assign(new Error('starting up'), { code: '57P03' });
  });
  await until(async () => (await tallies.revisionOf('a')) === 1);
  await running.stop();
  expect(await parked()).toEqual([]);
  expect((await tallies.pool.query('select from tallies.parked_streams')).rowCount).toBe(0);
});
