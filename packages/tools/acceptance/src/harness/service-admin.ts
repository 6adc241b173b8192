import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { StackFiles } from './stack-files.ts';

export type ServiceName = 'gateway' | 'orders' | 'payments';

/** Starts an admin command of one service, like `projections rebuild`, as `npm run admin` does. */
export const serviceAdmin = (stack: StackFiles, name: ServiceName, command: string) => {
  const admin = fileURLToPath(new URL(`../../../../../services/${name}/dist/admin.js`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [admin, ...command.split(' ')], {
    env: { ...process.env, NODE_OPTIONS: '', ...stack.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const output = Promise.all([text(child.stdout!).catch(() => ''), text(child.stderr!)]);
  return {
    kill: () => void child.kill('SIGKILL'),
    /** Closes the pipe of the output, as `head` does when it has enough. */
    stopReading: () => void child.stdout!.destroy(),
    /** Resolves with the exit code (null if it was killed) and the output. */
    outcome: async () => ({ code: await ended, output: (await output).join('') }),
  };
};
