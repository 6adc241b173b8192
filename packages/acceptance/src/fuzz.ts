import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz, type Fuzzed, installSchemathesis, NoSchemathesis } from './fuzz/schemathesis.ts';
import { startStack } from './harness/stack.ts';

/** The exit code where it cannot be run at all, which is no failure of the API. */
const CANNOT_RUN = 3;

/** On a stack of its own, without limits of rates. */
const fuzzOwnStack = async (seed: number): Promise<Fuzzed> => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-fuzz-'));
  const stack = await startStack();
  try {
    return await fuzz({ baseUrl: stack.baseUrl, apiKey: stack.apiKey, seed, folder });
  } finally {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

try {
  await installSchemathesis();
  const seed = Number(process.env.FUZZ_SEED || randomInt(2 ** 31));
  const { passed, requests, operations, faults } = await fuzzOwnStack(seed);
  const sent = `${requests} requests to ${operations} operations, FUZZ_SEED=${seed}`;
  console.log(passed ? `fuzzing passed: ${sent}` : `fuzzing failed: ${faults} kinds of faults in ${sent}`);
  process.exitCode = passed ? 0 : 1;
} catch (error) {
  if (!(error instanceof NoSchemathesis)) throw error;
  console.error(`fuzzing skipped: ${error.message}`);
  process.exitCode = CANNOT_RUN;
}
