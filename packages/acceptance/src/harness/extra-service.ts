import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { StackFiles } from './stack-files.ts';
import { until } from './until.ts';

/** One more instance of a service beside that of the stack, as a second machine would run it. `env` goes over what the stack's own has. */
export const startExtraService = async (name: 'gateway' | 'orders', stack: StackFiles, env: NodeJS.ProcessEnv = {}) => {
  const main = fileURLToPath(new URL(`../../../../services/${name}/dist/main.js`, import.meta.url));
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, NODE_OPTIONS: '', LOG_LEVEL: 'warn', ...stack.environment, PORT: String(port), ...env },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const last = () => void child.kill('SIGKILL');
  process.once('exit', last);
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    process.off('exit', last);
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  try {
    await until(`the extra ${name} to be ready`, async () => (await fetch(`${baseUrl}/health/ready`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return { baseUrl, stop, freeze: () => void child.kill('SIGSTOP'), thaw: () => void child.kill('SIGCONT') };
};

export const startExtraGateway = (stack: StackFiles, env: NodeJS.ProcessEnv = {}) =>
  startExtraService('gateway', stack, env);

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
