import type { Queryable } from '@cpg/platform/postgres';
import { chainKindOf } from './chain-kind.ts';
import { type ChainMarks, networkAvailability, networkState } from './network-availability.ts';

const AT = new Date('2026-01-31T12:00:00.000Z');
const before = (seconds: number) => new Date(AT.getTime() - seconds * 1_000);
const marks = (changes: Partial<ChainMarks> = {}): ChainMarks => ({
  network: 'ethereum',
  read_at: before(2),
  halted: null,
  stalled: null,
  ...changes,
});
const kind = chainKindOf('eip155:1');
const state = (row: ChainMarks | undefined, environment: 'sandbox' | 'production' = 'sandbox') =>
  networkState(row, { kind, environment, at: AT });

test('a network is available for minutes after it was read at its tip', () => {
  expect(state(marks())).toEqual({ isAvailable: true, forMs: 298_000 });
  expect(state(marks({ read_at: before(299) }))).toEqual({ isAvailable: true, forMs: 1_000 });
  expect(state(marks({ read_at: before(300) }))).toMatchObject({
    isAvailable: false,
    reason: 'it was last read up to its newest block at 2026-01-31T11:55:00.000Z',
  });
});

test('no network is available for longer because the clock was set back', () => {
  expect(state(marks({ read_at: before(-3_600) }))).toEqual({ isAvailable: true, forMs: 300_000 });
});

test('a network whose nodes are asked seldom is available until several answers are missing', () => {
  const seldom = { kind: chainKindOf('eip155:1', 600_000), environment: 'production' as const, at: AT };
  expect(networkState(marks({ read_at: before(1_900) }), seldom)).toMatchObject({ isAvailable: true });
});

test.each<[string, ChainMarks | undefined, RegExp]>([
  ['whose reading halted', marks({ halted: 'block 0 of the nodes is 0xab' }), /^its reading halted$/],
  ['whose nodes are behind', marks({ stalled: 'the newest block is old' }), /^its nodes are behind$/],
  ['that was never read', undefined, /not been read/],
  ['that was not read up to its tip yet', marks({ read_at: null }), /not been read/],
])('a network %s is unavailable in each environment', (_, row, reason) => {
  for (const environment of ['sandbox', 'production'] as const)
    expect(state(row, environment)).toMatchObject({ isAvailable: false, reason: expect.stringMatching(reason) });
});

test('a network that is not read yet is expected to be; one that halted or is stalled is not', () => {
  for (const row of [undefined, marks({ read_at: null }), marks({ read_at: before(9_000) })])
    expect(state(row)).toMatchObject({ isExpected: true });
  for (const row of [marks({ halted: 'another chain' }), marks({ stalled: 'old blocks' })])
    expect(state(row)).toMatchObject({ isExpected: false });
});

test('a network without nodes is available in a sandbox alone, whatever was read earlier', () => {
  const withoutNodes = (environment: 'sandbox' | 'production') =>
    networkState(marks(), { kind: undefined, environment, at: AT });
  expect(withoutNodes('sandbox')).toMatchObject({ isAvailable: true });
  expect(withoutNodes('production')).toMatchObject({ isAvailable: false, reason: 'it has no nodes in CHAIN_URLS' });
});

const startAvailability = (answer: () => ChainMarks[]) => {
  let nowMs = AT.getTime();
  let queries = 0;
  const db = {
    query: async () => {
      queries += 1;
      return { rows: answer() };
    },
  } as unknown as Queryable;
  const { read, latest } = networkAvailability({
    config: {
      ENVIRONMENT: 'production',
      CHAIN_URLS: { ethereum: ['http://127.0.0.1:1'] },
      networks: [
        { name: 'ethereum', chainId: 'eip155:1' },
        { name: 'base', chainId: 'eip155:8453' },
      ],
    },
    db,
    now: () => new Date(nowMs),
    nowMs: () => nowMs,
  });
  return {
    read: async () => (await read()).get('ethereum'),
    queries: () => queries,
    pass: (seconds: number) => void (nowMs += seconds * 1_000),
    latest,
  };
};

test('the tables are read once a second, however many orders are created', async () => {
  const { read, queries, pass } = startAvailability(() => [marks()]);
  await Promise.all([read(), read()]);
  await read();
  expect(queries()).toBe(1);
  pass(1);
  await read();
  expect(queries()).toBe(2);
});

test('while the tables cannot be read, what they said last counts for minutes', async () => {
  let fails = true;
  const { read, pass } = startAvailability(() => {
    if (fails) throw new Error('the database is unavailable');
    return [marks()];
  });
  await expect(read()).rejects.toThrow('unavailable');
  fails = false;
  await read();
  fails = true;
  pass(290);
  expect(await read()).toEqual({ isAvailable: true, forMs: 8_000 });
  pass(8);
  expect(await read()).toMatchObject({ isAvailable: false });
});

test('metrics get what was read last, and have it read again', async () => {
  const { read, latest, queries, pass } = startAvailability(() => [marks()]);
  expect(latest()).toBeNull();
  await read();
  expect([...latest()!].map(([name, { isAvailable }]) => [name, isAvailable])).toEqual([
    ['ethereum', true],
    ['base', false],
  ]);
  pass(1);
  latest();
  expect(queries()).toBe(2);
});
