import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { wallClockMs } from '@cpg/platform';

export interface StartingServer {
  readonly port: number;
  readonly folder: string;
  /** Called for each log line, also after the start. */
  readonly onLine: (line: string) => void;
  /** Called every 30 s while the server is still starting. */
  readonly onSlowStart: (message: string) => void;
}

const POLL_MS = 250;
const REPORT_MS = 30_000;
const MAX_KEPT_LINES = 200;

/** Resolves once the server accepts connections. Waits as long as its process lives, because a recovery after a crash
 *  may take minutes. Throws if it ends; the message names the cause that the server's log gives. */
export const waitUntilReady = (
  child: ChildProcess,
  { port, folder, onLine, onSlowStart }: StartingServer,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const lines: string[] = [];
    const startedAt = wallClockMs();
    const startedMs = performance.now();
    const report = setInterval(() => {
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      const last = lines.at(-1);
      onSlowStart(`PostgreSQL is still starting after ${seconds} s${last ? `; its last log line: ${last}` : ''}`);
    }, REPORT_MS);
    // The log does not come here if the data folder's settings send it to files.
    const poll = setInterval(() => {
      if (isReady(folder, child.pid, startedAt)) finish();
    }, POLL_MS);
    const finish = (error?: Error) => {
      clearInterval(report);
      clearInterval(poll);
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
        lines.push(line);
        if (lines.length > MAX_KEPT_LINES) lines.shift();
        onLine(line);
        if (line.includes('database system is ready to accept connections')) finish();
      }
    });
    child.once('exit', onExit);
    child.once('error', finish);
  });

// Lines of postmaster.pid. Source: `pidfile.h` of PostgreSQL.
const PID_LINE = 0;
const START_TIME_LINE = 2;
const STATUS_LINE = 7;
const CLOCK_TOLERANCE_S = 2;

/** Whether the server says in postmaster.pid that it accepts connections. The file of a killed server stays, and its
 *  process id may be given again: so the file must also be as new as the process. */
const isReady = (folder: string, pid: number | undefined, startedAt: number): boolean => {
  try {
    const lines = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
    const isOurs =
      lines[PID_LINE] === String(pid) && Number(lines[START_TIME_LINE]) >= startedAt / 1000 - CLOCK_TOLERANCE_S;
    return isOurs && lines[STATUS_LINE]?.trim() === 'ready';
  } catch {
    return false; // not written yet
  }
};

const startError = (lines: readonly string[], port: number, folder: string): Error => {
  const log = lines.join('\n');
  if (/could not bind|Address already in use/.test(log)) {
    return new Error(`port ${port} for PostgreSQL is taken: set POSTGRES_PORT (or PORT_OFFSET) to a free one`);
  }
  const severe = lines.findLast((line) => SEVERE_LINE.test(line));
  const reason = diskFault(log, folder) ?? severe ?? lines.slice(-3).join(' | ');
  return new Error(`PostgreSQL ended while starting: ${reason}`);
};

const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/No space left on device|Disk quota exceeded|wrote only \d+ of \d+ bytes/, 'is full: free some space on it'],
  [/Read-only file system/, 'is read-only: make it writable'],
  [/Input\/output error/, 'has input/output errors: see the system log'],
];

/** Describes a disk fault that PostgreSQL's log reports, and what to do. `folder` names the disk.
 *  Returns null if the log reports no disk fault. */
export const diskFault = (log: string, folder: string): string | null => {
  const fault = FAULTS.find(([pattern]) => pattern.test(log));
  return fault ? `the disk of ${folder} ${fault[1]}` : null;
};

/** A log line of an error that ends the server or its start. */
export const SEVERE_LINE = /\b(FATAL|PANIC): /;
