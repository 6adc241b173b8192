import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the program of this package from the current sources. */
export const buildMain = async (): Promise<{ main: string; remove: () => Promise<void> }> => {
  const outDir = join(PACKAGE, 'node_modules', '.cache', `main-${process.pid}`);
  await promisify(execFile)(process.execPath, ['../../../scripts/transpile.mjs', '--out', outDir], { cwd: PACKAGE });
  return { main: join(outDir, 'main.js'), remove: () => rm(outDir, { recursive: true }) };
};

export interface Program {
  readonly process: ChildProcess;
  /** What it has printed so far, stdout and stderr. */
  readonly output: () => string;
  /** Resolves with the exit code, or the signal that ended the process. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

export const run = (main: string, env: Record<string, string>): Program => {
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return {
    process: child,
    output: () => output,
    ended: once(child, 'close').then(([code, signal]) => code ?? signal),
  };
};
