import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz, type Fuzzed, installSchemathesis, type Target } from './fuzz/schemathesis.ts';
import { PackageUnavailableError } from './harness/pypi.ts';
import { startStack } from './harness/stack.ts';

/** Exit code if schemathesis cannot be installed. The API has not failed then. */
const CANNOT_RUN = 3;

/** Runs on a new stack without rate limits. */
const fuzzOwnStack = async ({ program, seed }: Pick<Target, 'program' | 'seed'>): Promise<Fuzzed> => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-fuzz-'));
  const stack = await startStack();
  try {
    return await fuzz({ program, baseUrl: stack.baseUrl, apiKey: stack.apiKey, seed, folder });
  } finally {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

try {
  const program = await installSchemathesis();
  const seed = Number(process.env.FUZZ_SEED || randomInt(2 ** 31));
  const { passed, requests, operations, faults } = await fuzzOwnStack({ program, seed });
  const sent = `${requests} requests to ${operations} operations, FUZZ_SEED=${seed}`;
  console.log(passed ? `fuzzing passed: ${sent}` : `fuzzing failed: ${faults} kinds of faults in ${sent}`);
  process.exitCode = passed ? 0 : 1;
} catch (error) {
  if (!(error instanceof PackageUnavailableError)) throw error;
  console.error(`fuzzing skipped: ${error.message}`);
  process.exitCode = CANNOT_RUN;
}
