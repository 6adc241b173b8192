import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { installFromPyPi } from '../harness/pypi.ts';

const PACKAGE = { name: 'schemathesis', version: '4.32.5', pythonAtLeast: [3, 11] } as const;
const SETTINGS = fileURLToPath(new URL('../../fuzz.toml', import.meta.url));
const RUN_WITHIN_MS = 900_000;

/** Installs schemathesis, once, and resolves with its path. Throws NoPackage where this machine cannot have it. */
export const installSchemathesis = async (): Promise<string> => join(await installFromPyPi(PACKAGE), 'schemathesis');

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
  /** Path of schemathesis. */
  readonly program: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly seed: number;
  /** Where the report goes. */
  readonly folder: string;
}

/** Sends requests to everything that the OpenAPI document of `baseUrl` names, shows what it finds, and resolves with the sum of it.
 *  Throws when schemathesis leaves no report, as when it takes too long. */
export const fuzz = async ({ program, baseUrl, apiKey, seed, folder }: Target): Promise<Fuzzed> => {
  const report = join(folder, 'report.json');
  const child = spawn(
    program,
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
