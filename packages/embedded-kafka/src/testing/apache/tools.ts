import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { apacheJars } from './jars.ts';

/** Runs one of Kafka's own command line tools to its end; answers what it wrote. Throws with its complaints when it fails. */
export type Tool = (name: string, args: readonly string[], input?: string) => Promise<string>;

const ENDED_WITHIN_MS = 25_000;

/** Throws NoApacheKafka. */
export const kafkaTools = async (): Promise<Tool> => {
  const java = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', await apacheJars()];
  const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error';
  return async (name, args, input = '') => {
    const tool = spawn('java', [quiet, ...java, `org.apache.kafka.tools.${name}`, ...args]);
    const last = () => void tool.kill('SIGKILL');
    const timer = setTimeout(last, ENDED_WITHIN_MS);
    process.once('exit', last);
    tool.stdin.end(input);
    const [output, complaints, [code]] = await Promise.all([text(tool.stdout), text(tool.stderr), once(tool, 'close')]);
    clearTimeout(timer);
    process.off('exit', last);
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${complaints}${output}`);
    return output;
  };
};
