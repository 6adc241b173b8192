import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { installFromPyPi, PackageUnavailableError } from './harness/pypi.ts';
import { startStack } from './harness/stack.ts';

const PACKAGE = { name: 'schemathesis', version: '4.32.5', pythonAtLeast: [3, 11] } as const;
const SETTINGS = fileURLToPath(new URL('../fuzz.toml', import.meta.url));
const HOOKS = fileURLToPath(new URL('../fuzz_hooks.py', import.meta.url));
const RUN_WITHIN_MS = 900_000;

/** Installs schemathesis, unless it is already installed, and resolves with its path. Throws PackageUnavailableError.
 *  */
const installSchemathesis = async (): Promise<string> => join(await installFromPyPi(PACKAGE), 'schemathesis');

const Report = z.object({
  complete: z.boolean(),
  operations: z.object({ total: z.int(), tested: z.int() }),
  test_cases: z.object({ generated: z.int() }),
  failures: z.array(z.unknown()),
  errors: z.array(z.unknown()),
});

interface Fuzzed {
  /** Every operation was tested and nothing failed. */
  readonly passed: boolean;
  readonly requests: number;
  readonly operations: number;
  /** The number of distinct failures and errors. Standard output has the details. */
  readonly faults: number;
}

interface Target {
  /** Path of schemathesis. */
  readonly program: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly seed: number;
  /** The folder of the report. */
  readonly folder: string;
}

/** Tests every operation of the OpenAPI document at `baseUrl` with generated requests. Throws if schemathesis leaves
 *  no report, for example after a timeout. */
const fuzz = async ({ program, baseUrl, apiKey, seed, folder }: Target): Promise<Fuzzed> => {
  const report = join(folder, 'report.json');
  const child = spawn(
    program,
    [
      ...['--no-color', '--config-file', SETTINGS, 'run', `${baseUrl}/openapi.json`],
      ...['--header', `x-api-key: ${apiKey}`, '--seed', String(seed)],
      ...['--report', 'json', '--report-json-path', report],
    ],
    {
      cwd: folder,
      env: { ...process.env, SCHEMATHESIS_HOOKS: HOOKS },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: RUN_WITHIN_MS,
    },
  );
  const code = await exitOf(child);
  if (!existsSync(report)) throw new Error(`schemathesis left no report (exit code ${code})`);
  const { complete, operations, test_cases, failures, errors } = Report.parse(JSON.parse(readFileSync(report, 'utf8')));
  return {
    passed: code === 0 && complete && operations.tested === operations.total,
    requests: test_cases.generated,
    operations: operations.tested,
    faults: failures.length + errors.length,
  };
};

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((done, fail) => {
    const killAtExit = () => void child.kill();
    process.once('exit', killAtExit);
    child.once('error', fail);
    child.once('exit', (code) => {
      process.off('exit', killAtExit);
      done(code);
    });
  });

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
