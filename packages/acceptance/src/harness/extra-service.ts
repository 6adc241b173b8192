import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '@cpg/ports';
import type { StackFiles } from './stack-files.ts';
import { until } from './until.ts';

/** Starts a second instance of a service of the stack, on a free port. `env` overrides the environment of the first
 *  one. */
export const startExtraService = async (name: 'gateway' | 'orders', stack: StackFiles, env: NodeJS.ProcessEnv = {}) => {
  const main = fileURLToPath(new URL(`../../../../services/${name}/dist/main.js`, import.meta.url));
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, NODE_OPTIONS: '', LOG_LEVEL: 'warn', ...stack.environment, PORT: String(port), ...env },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const killAtExit = () => void child.kill('SIGKILL');
  process.once('exit', killAtExit);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    process.off('exit', killAtExit);
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  try {
    await until(`the extra ${name} to be ready`, async () => (await fetch(`${baseUrl}/health/ready`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return { baseUrl, stop, freeze: () => void child.kill('SIGSTOP'), resume: () => void child.kill('SIGCONT') };
};

export const startExtraGateway = (stack: StackFiles, env: NodeJS.ProcessEnv = {}) =>
  startExtraService('gateway', stack, env);
