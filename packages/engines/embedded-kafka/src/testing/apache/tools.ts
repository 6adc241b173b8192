import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { apacheJars } from './jars.ts';

/** Runs a command line tool of Apache Kafka and returns its output. Throws with its error output if it fails. */
export type Tool = (name: string, args: readonly string[], input?: string) => Promise<string>;

const TOOL_TIMEOUT_MS = 25_000;

/** Most tools are in one Java package, and are named without it. */
const classOf = (name: string): string => (name.startsWith('kafka.') ? name : `org.apache.kafka.tools.${name}`);

/** Throws NoApacheKafka. */
export const kafkaTools = async (): Promise<Tool> => {
  const java = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', await apacheJars()];
  const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
  return async (name, args, input = '') => {
    const tool = spawn('java', [logging, ...java, classOf(name), ...args]);
    const kill = () => void tool.kill('SIGKILL');
    const timer = setTimeout(kill, TOOL_TIMEOUT_MS);
    process.once('exit', kill);
    tool.stdin.end(input);
    const [output, errors, [code]] = await Promise.all([text(tool.stdout), text(tool.stderr), once(tool, 'close')]);
    clearTimeout(timer);
    process.off('exit', kill);
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${errors}${output}`);
    return output;
  };
};
