import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BrokerProcess } from '../broker-process.ts';
import { freePort } from '../process.ts';
import { APACHE, apacheJars } from './jars.ts';

const JAVA = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
/** Without it a broker that says nothing is as wordless when it fails. */
const LOGGING = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
const READY_WITHIN_MS = 60_000;

/** A real broker on free ports and in a temporary folder, with `more` settings than those of server.properties. It ends with this
 *  process, however that ends. Throws NoApacheKafka. */
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
  let complaints = '';
  broker.stderr.setEncoding('utf8').on('data', (text: string) => (complaints = (complaints + text).slice(-2_000)));
  const until = Date.now() + READY_WITHIN_MS;
  while (!(await answers(port))) {
    if (hasEnded(broker) || Date.now() > until) throw new Error(`Apache Kafka did not start: ${complaints}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  return broker;
};

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

const answers = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });

// The system closes the pipe for a process that is killed: then the last broker it was told of ends, and its folder goes.
const GUARD = `
trap '' HUP INT TERM
while read -r line; do pid=$line; done
[ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null
rm -rf "$1" || { sleep 1; rm -rf "$1"; }`;

const startGuard = (folder: string): ChildProcess =>
  spawn('/bin/sh', ['-c', GUARD, 'guard', folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
