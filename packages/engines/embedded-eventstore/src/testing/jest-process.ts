import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../..', import.meta.url));

/** Compiles the sources into a folder from which `main.js` finds the package's dependencies. */
export const compileMain = (): { main: string; remove: () => void } => {
  const out = mkdtempSync(join(folder, 'node_modules', '.main-'));
  execFileSync(process.execPath, ['../../../scripts/transpile.mjs', '--out', out], { cwd: folder });
  writeFileSync(join(out, 'package.json'), '{"type":"module"}');
  return { main: join(out, 'main.js'), remove: () => rmSync(out, { recursive: true, force: true }) };
};

/** A run of `main.js` as a process of its own. */
export interface ServerProcess {
  readonly child: ChildProcess;
  /** Resolves with the first line of output that matches. */
  readonly line: (pattern: RegExp) => Promise<string>;
  /** Resolves with the whole output and the exit code, which is null after a signal. */
  readonly exited: Promise<{ code: number | null; output: string }>;
}

export const spawnMain = (main: string, env: Record<string, string>): ServerProcess => {
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      for (const check of waiting) check();
    });
  }
  const exited = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output }));
  });
  const line = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const check = () => {
        const found = output.split('\n').find((one) => pattern.test(one));
        if (found === undefined) return;
        waiting.delete(check);
        resolve(found);
      };
      waiting.add(check);
      check();
      void exited.then(() => reject(new Error(`ended without a line like ${pattern}: ${output}`)));
    });
  return { child, line, exited };
};
