import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { StackFiles } from './stack-files.ts';

export type ServiceName = 'orders' | 'payments';

/** A command of one service, like `projections rebuild`, in a process of its own, as `npm run admin` starts it. */
export const serviceAdmin = (stack: StackFiles, name: ServiceName, command: string) => {
  const admin = fileURLToPath(new URL(`../../../../services/${name}/dist/admin.js`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [admin, ...command.split(' ')], {
    env: { ...process.env, NODE_OPTIONS: '', ...stack.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  const said = Promise.all([text(child.stdout!), text(child.stderr!)]);
  return {
    kill: () => void child.kill('SIGKILL'),
    /** Its exit code, null when it was killed, and all that it said. */
    outcome: async () => ({ code: await ended, said: (await said).join('') }),
  };
};
