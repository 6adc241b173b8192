import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { CHECKOUT, manifest, run } from './setup.mjs';

const SLOWEST_SHOWN = 15;

/** `failed` has the names of the tests that failed.
 *  @typedef {{ passed: number, failed: string[], skipped: number }} Result */
/** A file in the report of jest.
 *  @typedef {object} TestFile
 *  @property {string} name
 *  @property {string} status
 *  @property {number} startTime
 *  @property {number} endTime
 *  @property {{ status: string, fullName: string }[]} assertionResults */

/** Runs jest once per list of arguments, one run after the other, and resolves with the sum of their tests. Prints the
 *  slowest files, and why tests were skipped. `patterns` select test files by path.
 *  @type {(runs: readonly string[][], patterns: readonly string[]) => Promise<Result>} */
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
  const forbidden = forbiddenSkips(reasons, process.env.REQUIRED_PROGRAMS);
  const failed = forbidden.map((reason) => `REQUIRED_PROGRAMS forbids to skip: ${reason}`);
  return sum([...results, { passed: 0, failed, skipped: 0 }]);
};

/** The lines of `reasons` that say that a required program is missing. `required` has the names of programs with spaces
 *  between them.
 *  @type {(reasons: string, required?: string) => string[]} */
export const forbiddenSkips = (reasons, required = '') => {
  const missing = required.split(' ').flatMap((name) => (name ? [`${name} is missing`] : []));
  return reasons.split('\n').filter((reason) => missing.some((text) => reason.includes(text)));
};

/** All results as one.
 *  @type {(results: readonly Result[]) => Result} */
export const sum = (results) => ({
  passed: results.reduce((all, { passed }) => all + passed, 0),
  failed: results.flatMap(({ failed }) => failed),
  skipped: results.reduce((all, { skipped }) => all + skipped, 0),
});

/** Prints the names of failed tests and the line of counts. CI reads both. Sets the exit code: a run in which no test
 *  passed has failed.
 *  @type {(result: Result) => void} */
export const conclude = ({ passed, failed, skipped }) => {
  process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0;
  for (const name of failed) console.log(`FAILED: ${name}`);
  console.log(`${passed} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
};

/** A file that cannot be run counts as one failed test, and so does a run that leaves no report.
 *  @type {(args: readonly string[], files: { report: string, skippedBecause: string }) => Promise<Result & { files: TestFile[] }>} */
const runOnce = async (args, { report, skippedBecause }) => {
  const [, ...jest] = manifest.scripts.jest.split(' ');
  const options = ['--json', `--outputFile=${report}`];
  const env = { ...process.env, SKIPPED_BECAUSE: skippedBecause };
  const code = await run(process.execPath, [...jest, ...args, ...options], { env });
  const command = `jest ${args.join(' ')}`;
  if (!existsSync(report)) return { passed: 0, failed: [`${command}, without a report`], skipped: 0, files: [] };
  const result = JSON.parse(readFileSync(report, 'utf8'));
  const failed = result.testResults.flatMap(failedTests);
  if (code !== 0 && failed.length === 0) failed.push(`${command}, with exit code ${code}`);
  return {
    passed: result.numPassedTests,
    failed,
    skipped: result.numPendingTests + result.numTodoTests,
    files: result.testResults,
  };
};

/** The failed tests of a file, or the file if it could not be run.
 *  @type {(file: TestFile) => string[]} */
const failedTests = ({ name, status, assertionResults }) => {
  const file = relative(CHECKOUT, name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  if (failed.length === 0 && status === 'failed') return [file];
  return failed.map(({ fullName }) => `${file}: ${fullName}`);
};

/** @type {(files: readonly TestFile[]) => string[]} */
const slowest = (files) =>
  files
    .map(({ name, startTime, endTime }) => ({ name, seconds: (endTime - startTime) / 1_000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST_SHOWN)
    .map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${relative(CHECKOUT, name)}`);
