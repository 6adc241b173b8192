import { rebuild } from './rebuild.ts';
import { busyWriters } from '../testing/jest-busy-writers.ts';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { verify } from './verify.ts';

// Generous, for machines under heavy load.
const SLOW = 120_000;

let tallies: Awaited<ReturnType<typeof startTallies>>;

beforeAll(async () => {
  tallies = await startTallies();
  for (let n = 0; n < 300; n += 1) await tallies.tally(`old-${n % 40}`, n);
  await tallies.remove('old-3');
});

afterAll(() => tallies.stop());

test(
  'names each row that differs from the log, and a rebuild corrects it',
  async () => {
    await tallies.corrupt();
    await tallies.pool.query("update tallies.tallies set seen_by = 'an instance' where id = 'old-4'");
    const { differ, differences } = await verify(tallies.options());
    expect(differ).toBe(3);
    const table = 'tallies.tallies';
    expect(differences).toEqual([
      { table, id: 'never', live: expect.objectContaining({ n: 1 }), replayed: null },
      { table, id: 'old-1', live: expect.objectContaining({ n: 282 }), replayed: expect.objectContaining({ n: 281 }) },
      { table, id: 'old-2', live: null, replayed: expect.objectContaining({ n: 282 }) },
    ]);
    await rebuild(tallies.options());
    expect(await verify(tallies.options())).toMatchObject({ differ: 0, differences: [] });
  },
  SLOW,
);

test(
  'finds no difference in a correct table under load',
  async () => {
    const writers = busyWriters(tallies, 'verified', 6);
    for (let round = 0; round < 3; round += 1) expect(await verify(tallies.options())).toMatchObject({ differ: 0 });
    await writers.stop();
  },
  SLOW,
);
