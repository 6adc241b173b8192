import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { StackFiles } from './stack-files.ts';
import { until } from './until.ts';

const GATEWAY = fileURLToPath(new URL('../../../../services/gateway/dist/main.js', import.meta.url));

/** One more gateway beside that of the stack, as a second machine would run it. `env` goes over what the stack's own gateway has. */
export const startExtraGateway = async (stack: StackFiles, env: NodeJS.ProcessEnv = {}) => {
  const port = await freePort();
  const child = spawn(process.execPath, [GATEWAY], {
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
    await until('the extra gateway to be ready', async () => (await fetch(`${baseUrl}/health/ready`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return { baseUrl, stop };
};

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
