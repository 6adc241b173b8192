import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { CHECKOUT, manifest, run } from './setup.mjs';

const SLOWEST_SHOWN = 15;

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */
/** @typedef {{ name: string, startTime: number, endTime: number }} TestFile */

/** Runs jest once per list of arguments, one run after the other, and resolves with the sum of their tests. Prints the
 *  slowest files, and why tests were skipped. `patterns` select test files by path.
 *  @type {(runs: readonly string[][], patterns: readonly string[]) => Promise<Counts>} */
export const runJest = async (runs, patterns) => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-report-'));
  const skippedBecause = join(folder, 'skipped-because');
  const selection = patterns.map((pattern) => `--testPathPatterns=${pattern}`);
  // A pattern may leave a run without files. Without one, a run that finds none has lost its tests.
  if (patterns.length > 0) selection.push('--passWithNoTests');
  const results = [];
  for (const [index, args] of runs.entries()) {
    results.push(await runOnce([...args, ...selection], { report: join(folder, `${index}.json`), skippedBecause }));
  }
  console.log(`\nslowest test files\n${slowest(results.flatMap(({ files }) => files)).join('\n')}`);
  const reasons = existsSync(skippedBecause) ? readFileSync(skippedBecause, 'utf8') : '';
  process.stdout.write(reasons);
  rmSync(folder, { recursive: true, force: true });
  const failed = forbiddenSkips(reasons, process.env.REQUIRED_PROGRAMS);
  for (const reason of failed) console.log(`FAIL: REQUIRED_PROGRAMS forbids to skip: ${reason}`);
  return sum([...results, { passed: 0, failed: failed.length, skipped: 0 }]);
};

/** The lines of `reasons` that say that a required program is missing. `required` has the names of programs with spaces
 *  between them.
 *  @type {(reasons: string, required?: string) => string[]} */
export const forbiddenSkips = (reasons, required = '') => {
  const missing = required.split(' ').flatMap((name) => (name ? [`${name} is missing`] : []));
  return reasons.split('\n').filter((reason) => missing.some((text) => reason.includes(text)));
};

/** The sum of several counts of tests.
 *  @type {(counts: readonly Counts[]) => Counts} */
export const sum = (counts) => {
  const total = (/** @type {keyof Counts} */ name) => counts.reduce((all, count) => all + count[name], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
};

/** Prints the line that CI reads, and sets the exit code: a run in which no test passed has failed.
 *  @type {(counts: Counts) => void} */
export const conclude = ({ passed, failed, skipped }) => {
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
};

/** A file that cannot be run counts as one failed test, and so does a run that leaves no report.
 *  @type {(args: readonly string[], files: { report: string, skippedBecause: string }) => Promise<Counts & { files: TestFile[] }>} */
const runOnce = async (args, { report, skippedBecause }) => {
  const [, ...jest] = manifest.scripts.jest.split(' ');
  const options = ['--json', `--outputFile=${report}`];
  const env = { ...process.env, SKIPPED_BECAUSE: skippedBecause };
  const code = await run(process.execPath, [...jest, ...args, ...options], { env });
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0, files: [] };
  const result = JSON.parse(readFileSync(report, 'utf8'));
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  return {
    passed: result.numPassedTests,
    failed: code === 0 ? failed : Math.max(failed, 1),
    skipped: result.numPendingTests + result.numTodoTests,
    files: result.testResults,
  };
};

/** @type {(files: readonly TestFile[]) => string[]} */
const slowest = (files) =>
  files
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST_SHOWN)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${relative(CHECKOUT, name)}`);
