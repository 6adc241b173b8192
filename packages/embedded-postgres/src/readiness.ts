import type { ChildProcess } from 'node:child_process';
import { diskFault } from './disk-fault.ts';
import { SEVERE_LINE } from './log-lines.ts';

export interface StartingServer {
  readonly port: number;
  readonly folder: string;
  /** Called for each log line, also after the start. */
  readonly onLine: (line: string) => void;
}

const READY_TIMEOUT_MS = 30_000;
const MAX_KEPT_LINES = 200;

/** Resolves once the server accepts connections. Throws if it ends or is not ready within 30 s;
 *  the message names the cause that the server's log gives. */
export const waitUntilReady = (child: ChildProcess, { port, folder, onLine }: StartingServer): Promise<void> =>
  new Promise((resolve, reject) => {
    const lines: string[] = [];
    const timer = setTimeout(
      () => finish(new Error(`PostgreSQL was not ready within ${READY_TIMEOUT_MS / 1000} s`)),
      READY_TIMEOUT_MS,
    );
    const finish = (error?: Error) => {
      clearTimeout(timer);
      child.off('exit', onExit);
      child.off('error', finish);
      if (error) reject(error);
      else resolve();
    };
    const onExit = () => finish(startError(lines, port, folder));
    let rest = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        if (lines.length < MAX_KEPT_LINES) lines.push(line);
        onLine(line);
        if (line.includes('database system is ready to accept connections')) finish();
      }
    });
    child.once('exit', onExit);
    child.once('error', finish);
  });

const startError = (lines: readonly string[], port: number, folder: string): Error => {
  const log = lines.join('\n');
  if (/could not bind|Address already in use/.test(log)) {
    return new Error(`port ${port} for PostgreSQL is taken: set POSTGRES_PORT (or PORT_OFFSET) to a free one`);
  }
  const severe = lines.findLast((line) => SEVERE_LINE.test(line));
  const reason = diskFault(log, folder) ?? severe ?? lines.slice(-3).join(' | ');
  return new Error(`PostgreSQL ended while starting: ${reason}`);
};
