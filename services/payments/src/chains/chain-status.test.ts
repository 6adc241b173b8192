import type { Queryable } from '@cpg/platform/postgres';
import { chainDetails } from './chain-status.ts';

const row = {
  network: 'ethereum',
  height: '100',
  hash: '0x64',
  tip: '120',
  halted: null,
  waiting: null,
  stalled: null,
  nodes: null,
  rescan_from: null,
  open: '3',
};
const readAt = new Date('2026-01-31T12:00:00.000Z');
const databaseWith = (...rows: object[]) => ({ query: async () => ({ rows }) }) as unknown as Queryable;

test('readiness shows how far each watched network was read, and why one halted or waits', async () => {
  const halted = { ...row, network: 'polygon', read_at: readAt, halted: 'node 1 has no state of block 101' };
  const unwatched = { ...row, network: 'bitcoin', read_at: readAt };
  const waiting = { ...row, network: 'arbitrum', read_at: readAt, waiting: 'the read models are not complete' };
  const db = databaseWith(unwatched, { ...row, read_at: null }, halted, waiting);
  expect(await chainDetails(db, ['ethereum', 'polygon', 'base', 'arbitrum'])).toEqual({
    ethereum: { height: 100, tip: 120, read_at: null },
    polygon: { height: 100, tip: 120, read_at: readAt.toISOString(), halted: halted.halted },
    base: { height: null, tip: null, read_at: null },
    arbitrum: { height: 100, tip: 120, read_at: readAt.toISOString(), waiting: waiting.waiting },
  });
});

test('readiness shows why a chain is not current, and when a node in use showed its newest block', async () => {
  const seen = (seconds: number) => new Date(readAt.getTime() + seconds * 1_000).toISOString();
  const view = { height: 120, hash: '0x78', time: seen(0) };
  const nodes = [
    { ...view, number: 1, seenAt: seen(1), isUsed: true },
    { ...view, number: 2, seenAt: seen(2), isUsed: true },
    { ...view, number: 3, seenAt: seen(3), isUsed: false },
  ];
  const db = databaseWith({ ...row, read_at: null, stalled: 'every node is frozen', nodes });
  expect(await chainDetails(db, ['ethereum'])).toEqual({
    ethereum: { height: 100, tip: 120, tip_seen_at: seen(2), read_at: null, stalled: 'every node is frozen' },
  });
});
