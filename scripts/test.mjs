import { availableParallelism } from 'node:os';
import { conclude, runJest } from './jest-runs.mjs';
import { setUp } from './setup.mjs';

// Unit and integration tests mostly wait for timers and engines, so two run per core. Acceptance tests share one stack,
// which keeps a core busy itself. jest.config.js says which file belongs where.
const RUNS = [
  ['--selectProjects', 'unit', 'integration', `--maxWorkers=${2 * availableParallelism()}`],
  ['--selectProjects', 'acceptance', '--maxWorkers=2'],
];

await setUp();
conclude(await runJest(RUNS, process.argv.slice(2)));
