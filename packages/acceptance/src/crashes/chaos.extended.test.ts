import { runChaos } from '../chaos/run.ts';

const SECONDS = 60;
// The same seed in every run, so that a new fault comes from the commit. `npm run chaos` takes other seeds, and longer runs.
const SEED = 7;

test('processes are killed, frozen and cut off under load: nothing that was acknowledged is lost or doubled', async () => {
  const said: string[] = [];
  const { orders, troubles, faults } = await runChaos({
    seconds: SECONDS,
    seed: SEED,
    say: (sentence) => void said.push(sentence),
  });
  expect({ faults, said: faults.length > 0 ? said : [] }).toEqual({ faults: [], said: [] });
  expect(orders).toBeGreaterThan(0);
  expect(troubles).toBeGreaterThan(0);
}, 400_000);
