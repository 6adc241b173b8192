import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const VERSION = '4.32.5';
const PYTHON_AT_LEAST = [3, 11] as const;
const SETTINGS = fileURLToPath(new URL('../../fuzz.toml', import.meta.url));
const ENVIRONMENT = fileURLToPath(new URL(`../../../../node_modules/.cache/schemathesis-${VERSION}`, import.meta.url));
const INSTALLED = join(ENVIRONMENT, 'bin', 'schemathesis');
const INSTALL_WITHIN_MS = 300_000;
const RUN_WITHIN_MS = 900_000;

const run = promisify(execFile);

/** This machine cannot run schemathesis; the message says why. */
export class NoSchemathesis extends Error {}

/** Installs schemathesis from PyPI, once, in a virtual environment of its own. PYTHON names another interpreter than `python3`. */
export const installSchemathesis = async (): Promise<void> => {
  const python = process.env.PYTHON || 'python3';
  await requirePython(python);
  if (existsSync(INSTALLED)) return;
  console.log(`installing schemathesis ${VERSION}`);
  try {
    await run(python, ['-m', 'venv', '--clear', ENVIRONMENT], { timeout: INSTALL_WITHIN_MS });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
    await run(join(ENVIRONMENT, 'bin', 'python'), pip, { timeout: INSTALL_WITHIN_MS });
  } catch (error) {
    // Half an installation would be taken for a whole one.
    rmSync(ENVIRONMENT, { recursive: true, force: true });
    throw new NoSchemathesis(`schemathesis ${VERSION} could not be installed: ${reasonOf(error)}`, { cause: error });
  }
};

const requirePython = async (python: string): Promise<void> => {
  const needed = PYTHON_AT_LEAST.join('.');
  const asked = await run(python, ['-c', 'import sys, venv; print(*sys.version_info[:2])']).catch((cause: unknown) => {
    throw new NoSchemathesis(`fuzzing needs Python ${needed} or later with venv, and ${python} does not run`, {
      cause,
    });
  });
  const [major = 0, minor = 0] = asked.stdout.split(' ').map(Number);
  if (major < PYTHON_AT_LEAST[0] || (major === PYTHON_AT_LEAST[0] && minor < PYTHON_AT_LEAST[1])) {
    throw new NoSchemathesis(`fuzzing needs Python ${needed} or later, and ${python} is ${major}.${minor}`);
  }
};

const Report = z.object({
  complete: z.boolean(),
  operations: z.object({ total: z.int(), tested: z.int() }),
  test_cases: z.object({ generated: z.int() }),
  failures: z.array(z.unknown()),
  errors: z.array(z.unknown()),
});

export interface Fuzzed {
  /** Every operation was tested to the end, and nothing failed. */
  readonly passed: boolean;
  readonly requests: number;
  readonly operations: number;
  /** Kinds of failures and errors; what they are is on standard output. */
  readonly faults: number;
}

export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly seed: number;
  /** Where the report goes. */
  readonly folder: string;
}

/** Sends requests to everything that the OpenAPI document of `baseUrl` names, shows what it finds, and resolves with the sum of it.
 *  Throws when schemathesis leaves no report, as when it takes too long. */
export const fuzz = async ({ baseUrl, apiKey, seed, folder }: Target): Promise<Fuzzed> => {
  const report = join(folder, 'report.json');
  const child = spawn(
    INSTALLED,
    [
      ...['--no-color', '--config-file', SETTINGS, 'run', `${baseUrl}/openapi.json`],
      ...['--header', `x-api-key: ${apiKey}`, '--seed', String(seed)],
      ...['--report', 'json', '--report-json-path', report],
    ],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], timeout: RUN_WITHIN_MS },
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
    // Should this process go without a word, it goes too.
    const last = () => void child.kill();
    process.once('exit', last);
    child.once('error', fail);
    child.once('exit', (code) => {
      process.off('exit', last);
      done(code);
    });
  });

const reasonOf = (error: unknown): string =>
  (error as { stderr?: string }).stderr?.trim().split('\n').at(-1) || String(error);
