import { busyWriters } from '../testing/jest-busy-writers.ts';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { verify } from './verify.ts';

let tallies: Awaited<ReturnType<typeof startTallies>>;

beforeAll(async () => {
  tallies = await startTallies();
  for (let n = 0; n < 300; n += 1) await tallies.tally(`old-${n % 40}`, n);
  await tallies.remove('old-3');
});

afterAll(() => tallies.stop());

test('finds no difference in a correct table under load', async () => {
  const writers = busyWriters(tallies, 'verified', 6);
  for (let round = 0; round < 3; round += 1) expect(await verify(tallies.options())).toMatchObject({ differ: 0 });
  await writers.stop();
});
