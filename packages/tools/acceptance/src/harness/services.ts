import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '@cpg/ports';
import type { StackFiles } from './stack-files.ts';
import { until } from './until.ts';

/** The answer of a health route: the status, and the checks that fail, as in `503 preparation orders`.
 *  Without a connection `refused`, and after `withinMs` `no answer`. */
export const healthOf = async (
  baseUrl: string,
  { path = '/health/ready', withinMs = 6_000 }: { path?: '/health' | '/health/ready'; withinMs?: number } = {},
): Promise<string> => {
  const signal = AbortSignal.timeout(withinMs);
  const answer = await fetch(`${baseUrl}${path}`, { signal })
    .then(async (response) => ({ status: response.status, body: await response.text() }))
    .catch(() => null);
  if (!answer) return signal.aborted ? 'no answer' : 'refused';
  const { missing = [] } = JSON.parse(answer.body) as { missing?: string[] };
  return [answer.status, ...missing].join(' ');
};

export type ServiceName = 'gateway' | 'orders' | 'payments';

/** Without the options of Node.js for the test run: they are not meant for the services. */
const ownEnvironment = (): NodeJS.ProcessEnv => ({ ...process.env, NODE_OPTIONS: '' });

/** Starts an admin command of one service, like `projections rebuild`, as `npm run admin` does. */
export const serviceAdmin = (stack: StackFiles, name: ServiceName, command: string) => {
  const admin = fileURLToPath(new URL(`../../../../../services/${name}/dist/admin.js`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [admin, ...command.split(' ')], {
    env: { ...ownEnvironment(), ...stack.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  // `stopReading` makes the read of the output fail.
  const output = Promise.all([text(child.stdout!).catch(() => ''), text(child.stderr!)]);
  return {
    kill: () => void child.kill('SIGKILL'),
    /** Closes the pipe of the output, as `head` does when it has enough. */
    stopReading: () => void child.stdout!.destroy(),
    /** Resolves with the exit code (null if it was killed) and the output. */
    outcome: async () => ({ code: await ended, output: (await output).join('') }),
  };
};

/** Starts a second instance of a service of the stack, on a free port, and waits until it is ready.
 *  `env` overrides the environment of the first one. Throws with its log if it ends or does not get ready.
 *  No test needs a second payments service. */
export const startExtraService = async (name: 'gateway' | 'orders', stack: StackFiles, env: NodeJS.ProcessEnv = {}) => {
  const main = fileURLToPath(new URL(`../../../../../services/${name}/dist/main.js`, import.meta.url));
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: { ...ownEnvironment(), LOG_LEVEL: 'warn', ...stack.environment, PORT: String(port), ...env },
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
      // Ends the wait; the error follows below.
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
  return {
    baseUrl,
    /** Only of a process that runs: a frozen one handles no SIGTERM until `resume`. */
    stop,
    freeze: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
};

export const startExtraGateway = (stack: StackFiles, env: NodeJS.ProcessEnv = {}) =>
  startExtraService('gateway', stack, env);
