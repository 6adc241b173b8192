import { runChaos } from '../chaos/run.ts';

const SECONDS = 25;
// The same seed in every run, so that a new fault comes from the commit. `npm run chaos` takes other seeds, and longer
// runs.
const SEED = 7;

test.each([
  ['kills, freezes and connection losses', {}],
  ['outages of an event store that is found by gossip', { discover: true }],
  ['faults of single instances, of two of each service,', { scale: true }],
])(
  '%s under load lose or duplicate nothing that was acknowledged',
  async (_, options) => {
    const log: string[] = [];
    const { orders, disruptions, faults } = await runChaos({
      seconds: SECONDS,
      seed: SEED,
      ...options,
      log: (line) => void log.push(line),
    });
    expect({ faults, log: faults.length > 0 ? log : [] }).toEqual({ faults: [], log: [] });
    expect(orders).toBeGreaterThan(0);
    expect(disruptions).toBeGreaterThan(0);
  },
  400_000,
);
