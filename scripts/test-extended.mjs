import { join } from 'node:path';
import { conclude, runJest, sum } from './jest-runs.mjs';
import { CHECKOUT, run, setUp } from './setup.mjs';
import { SHOPS_RUN, shopsAreInstalled } from './shops.mjs';

// Long runs, and tests that need Java or Python. jest.config.js says which file belongs where.
const RUNS = [
  ['--selectProjects', 'extended-integration', 'apache-kafka', '--maxWorkers=100%'],
  ['--selectProjects', 'extended', '--maxWorkers=2'],
];
/** The same requests in every run, so that a new fault comes from the commit. */
const FUZZ_SEED = '133453178';
const FUZZ_CANNOT_RUN = 3;

/** What `pnpm check` runs besides tests. Each counts as one test.
 *  @type {[name: string, ...args: string[]][]} */
const CHECKS = [
  ['tsc'],
  ['tsc', '-p', 'packages/dashboard'],
  ['eslint', '.'],
  ['prettier', '--check', '--log-level=warn', '.'],
  ['knip', '--no-progress', '--no-config-hints'],
  ['depcruise', '--config', '.dependency-cruiser.mjs', 'packages', 'services'],
];

/** @type {(check: [name: string, ...args: string[]]) => Promise<import('./jest-runs.mjs').Result>} */
const runCheck = async ([name, ...args]) => {
  // eslint loads the types of all packages at once.
  const env = { ...process.env, NODE_OPTIONS: '--max-old-space-size=8192' };
  const code = await run(join(CHECKOUT, 'node_modules', '.bin', name), args, { env });
  console.log(`${code === 0 ? 'PASS' : 'FAIL'} ${name}`);
  return { passed: Number(code === 0), failed: code === 0 ? [] : [name], skipped: 0 };
};

/** Sends generated requests to every endpoint. Counts as one test. */
const fuzz = async () => {
  const env = { ...process.env, FUZZ_SEED: process.env.FUZZ_SEED || FUZZ_SEED };
  const code = await run(process.execPath, [`${CHECKOUT}/packages/tools/acceptance/dist/fuzz.js`], { env });
  return {
    passed: Number(code === 0),
    failed: code === 0 || code === FUZZ_CANNOT_RUN ? [] : ['fuzzing'],
    skipped: Number(code === FUZZ_CANNOT_RUN),
  };
};

process.env.EXTENDED = '1';
await setUp();
const patterns = process.argv.slice(2);
const hasShops = await shopsAreInstalled();
const results = [await runJest(hasShops ? [...RUNS, SHOPS_RUN] : RUNS, patterns)];
if (!hasShops) {
  console.log(
    'SKIPPED: the tests that sell in real shops. "npm run test:shops" installs Medusa and Vendure, and runs them',
  );
  results.push({ passed: 0, failed: [], skipped: 1 });
}
if (patterns.length === 0) {
  for (const check of CHECKS) results.push(await runCheck(check));
  results.push(await fuzz());
}
conclude(sum(results));
