import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@cpg/ports';
import type { BrokerProcess } from '../broker-process.ts';
import { APACHE, apacheJars } from './jars.ts';

export { NoApacheKafka } from './jars.ts';
export type { BrokerProcess } from '../broker-process.ts';

const JAVA = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
/** Prints errors only, so that the output of a failed start is its reason. */
const LOGGING = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
const START_TIMEOUT_MS = 60_000;

/** Starts Apache Kafka on free ports with a temporary data folder. `more` adds settings to those of server.properties.
 *  The broker is killed when this process ends, even if it crashes. Throws NoApacheKafka. */
export const startApacheKafka = async (more: Record<string, string> = {}): Promise<BrokerProcess> => {
  const java = [...JAVA, LOGGING, '-cp', await apacheJars()];
  const [port, controllerPort] = [await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), 'apache-kafka-'));
  const guard = startGuard(folder);
  const properties = join(folder, 'server.properties');
  const own = {
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'log.dirs': join(folder, 'data'),
  };
  const lines = Object.entries({ ...own, ...more }).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(properties, (await readFile(join(APACHE, 'server.properties'), 'utf8')) + lines.join(''));
  const format = ['kafka.tools.StorageTool', 'format', '-t', 'cpg-conformance-tests0', '-c', properties];
  await promisify(execFile)('java', [...java, ...format]);

  let broker = await launch([...java, 'kafka.Kafka', properties], port, guard);
  const end = async (signal: NodeJS.Signals) => {
    const ended = hasEnded(broker) ? null : once(broker, 'exit');
    broker.kill(signal);
    await ended;
  };
  return {
    brokers: `127.0.0.1:${port}`,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    start: async () => {
      broker = await launch([...java, 'kafka.Kafka', properties], port, guard);
    },
    remove: async () => {
      guard.stdin!.end();
      await once(guard, 'exit');
    },
  };
};

const launch = async (args: readonly string[], port: number, guard: ChildProcess): Promise<ChildProcess> => {
  const broker = spawn('java', args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  guard.stdin!.write(`${broker.pid}\n`);
  let errors = '';
  broker.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)));
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await accepts(port))) {
    if (hasEnded(broker) || Date.now() > deadline) throw new Error(`Apache Kafka did not start: ${errors}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  return broker;
};

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const accepts = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });

// A shell that reads broker pids from a pipe. When this process ends, the system closes the pipe: the shell then kills
// the last broker and deletes the folder.
const GUARD = `
trap '' HUP INT TERM
while read -r line; do pid=$line; done
[ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null
rm -rf "$1" || { sleep 1; rm -rf "$1"; }`;

const startGuard = (folder: string): ChildProcess =>
  spawn('/bin/sh', ['-c', GUARD, 'guard', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
