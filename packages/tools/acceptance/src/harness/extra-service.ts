import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '@cpg/ports';
import { healthOf } from './health.ts';
import type { StackFiles } from './stack-files.ts';
import { until } from './until.ts';

/** Starts a second instance of a service of the stack, on a free port, and waits until it is ready.
 *  `env` overrides the environment of the first one.
 *  Throws with its log if it ends or does not get ready. */
export const startExtraService = async (name: 'gateway' | 'orders', stack: StackFiles, env: NodeJS.ProcessEnv = {}) => {
  const main = fileURLToPath(new URL(`../../../../../services/${name}/dist/main.js`, import.meta.url));
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, NODE_OPTIONS: '', LOG_LEVEL: 'warn', ...stack.environment, PORT: String(port), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = once(child, 'close');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const killAtExit = () => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    process.off('exit', killAtExit);
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  try {
    await until(`the extra ${name} on port ${port} to be ready`, async () => {
      if (hasEnded()) return true;
      const health = await healthOf(baseUrl);
      if (health !== '200') throw new Error(`it answers ${health}`);
      return true;
    });
    if (hasEnded()) throw new Error(`the extra ${name} on port ${port} ended (${child.signalCode ?? child.exitCode})`);
  } catch (error) {
    await stop();
    throw new Error([(error as Error).message, ...(await log)].join('\n').trimEnd(), { cause: error });
  }
  return { baseUrl, stop, freeze: () => void child.kill('SIGSTOP'), resume: () => void child.kill('SIGCONT') };
};

export const startExtraGateway = (stack: StackFiles, env: NodeJS.ProcessEnv = {}) =>
  startExtraService('gateway', stack, env);
