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

const Report = z.object({
  complete: z.boolean(),
  operations: z.object({ total: z.int(), tested: z.int() }),
  test_cases: z.object({ generated: z.int() }),
  failures: z.array(z.unknown()),
  errors: z.array(z.unknown()),
});

const Keys = z.object({ items: z.array(z.object({ id: z.string(), prefix: z.string() })) });

/** Tests every operation of the OpenAPI document of a new stack without rate limits with generated requests. Prints the
 *  result, and resolves to the exit code. Throws PackageUnavailableError, and if schemathesis leaves no report, for
 *  example after a timeout. */
const fuzz = async (): Promise<number> => {
  const program = join(await installFromPyPi(PACKAGE), 'schemathesis');
  const seed = process.env.FUZZ_SEED || String(randomInt(2 ** 31));
  const folder = mkdtempSync(join(tmpdir(), 'cpg-fuzz-'));
  const stack = await startStack();
  const read = (path: string) => fetch(`${stack.baseUrl}${path}`, { headers: { 'x-api-key': stack.apiKey } });
  try {
    const { items } = Keys.parse(await (await read('/v1/api-keys')).json());
    const own = items.find(({ prefix }) => stack.apiKey.startsWith(prefix))!;
    const file = join(folder, 'report.json');
    const child = spawn(
      program,
      [
        ...['--no-color', '--config-file', SETTINGS, 'run', `${stack.baseUrl}/openapi.json`],
        ...['--header', `x-api-key: ${stack.apiKey}`, '--seed', seed, '--report', 'json', '--report-json-path', file],
      ],
      {
        cwd: folder,
        env: { ...process.env, SCHEMATHESIS_HOOKS: HOOKS, FUZZ_OWN_KEY: own.id },
        stdio: ['ignore', 'inherit', 'inherit'],
        timeout: RUN_WITHIN_MS,
      },
    );
    const code = await exitOf(child);
    if (!existsSync(file)) throw new Error(`schemathesis left no report (exit code ${code})`);
    if (!(await read('/v1/merchants/me')).ok) throw new Error('a request ended the key of all requests');
    const report = Report.parse(JSON.parse(readFileSync(file, 'utf8')));
    const { complete, operations, test_cases, failures, errors } = report;
    const passed = code === 0 && complete && operations.tested === operations.total;
    const sent = `${test_cases.generated} requests to ${operations.tested} operations, FUZZ_SEED=${seed}`;
    const faults = failures.length + errors.length;
    console.log(passed ? `fuzzing passed: ${sent}` : `fuzzing failed: ${faults} kinds of faults in ${sent}`);
    return passed ? 0 : 1;
  } finally {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
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

try {
  process.exitCode = await fuzz();
} catch (error) {
  if (!(error instanceof PackageUnavailableError)) throw error;
  console.error(`fuzzing skipped: ${error.message}`);
  process.exitCode = CANNOT_RUN;
}
