import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifest, run, setUp } from './setup.mjs';

// What drives whole processes comes last and one by one: each has a stack to itself. The others mostly wait for engines: one worker per core.
const RUNS = [
  ['--selectProjects', 'unit', 'integration', 'apache-kafka', '--maxWorkers=100%'],
  ['--selectProjects', 'acceptance', '--runInBand'],
];

/** Runs jest once; counts its tests. A suite that could not start counts as one failed test, and so does a run without a report. */
const runJest = async (args, report) => {
  const [, ...jest] = manifest.scripts.jest.split(' ');
  const more = process.argv.slice(2).map((pattern) => `--testPathPatterns=${pattern}`);
  const options = ['--passWithNoTests', '--json', `--outputFile=${report}`, ...more];
  const env = { ...process.env, SKIPPED_BECAUSE: reasons };
  const code = await run(process.execPath, [...jest, ...args, ...options], { env });
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  const failed = counts.numFailedTests + counts.numRuntimeErrorTestSuites;
  return {
    passed: counts.numPassedTests,
    failed: code === 0 ? failed : Math.max(failed, 1),
    skipped: counts.numPendingTests + counts.numTodoTests,
  };
};

await setUp();
const folder = mkdtempSync(join(tmpdir(), 'cpg-report-'));
const reasons = join(folder, 'skipped-because');
const results = [];
for (const [index, args] of RUNS.entries()) results.push(await runJest(args, join(folder, `${index}.json`)));
const skippedBecause = existsSync(reasons) ? readFileSync(reasons, 'utf8') : '';
rmSync(folder, { recursive: true, force: true });

const total = (name) => results.reduce((sum, result) => sum + result[name], 0);
const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map(total);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
process.stdout.write(skippedBecause);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
