import type { Queryable } from '@cpg/postgres';
import { chainDetails } from './chain-status.ts';

const row = {
  network: 'ethereum',
  height: '100',
  hash: '0x64',
  tip: '120',
  halted: null,
  rescan_from: null,
  open: '3',
};
const readAt = new Date('2026-01-31T12:00:00.000Z');
const databaseWith = (...rows: object[]) => ({ query: async () => ({ rows }) }) as unknown as Queryable;

test('readiness shows how far each watched network was read, and why one halted', async () => {
  const halted = { ...row, network: 'polygon', read_at: readAt, halted: 'node 1 has no state of block 101' };
  const unwatched = { ...row, network: 'bitcoin', read_at: readAt };
  const db = databaseWith(unwatched, { ...row, read_at: null }, halted);
  expect(await chainDetails(db, ['ethereum', 'polygon', 'base'])).toEqual({
    ethereum: { height: 100, tip: 120, read_at: null },
    polygon: { height: 100, tip: 120, read_at: readAt.toISOString(), halted: halted.halted },
    base: { height: null, tip: null, read_at: null },
  });
});
