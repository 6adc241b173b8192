import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The signals that stop and kill a process. */
export interface Signals {
  readonly stop: NodeJS.Signals;
  readonly kill: NodeJS.Signals;
}

/** PostgreSQL differs: SIGINT is its fast shutdown, and SIGQUIT kills it together with its workers. */
export const signalsOf = (name: string): Signals =>
  name === 'postgres' ? { stop: 'SIGINT', kill: 'SIGQUIT' } : { stop: 'SIGTERM', kill: 'SIGKILL' };

/** Start time of a process, in the system's own format. Process id and start time together identify a process, because
 *  ids are reused. Null when the process does not exist or is a zombie. */
export const startedAt = (pid: number): string | null => {
  if (process.platform !== 'linux') return ps(pid, 'lstart=');
  // proc(5): field 2 is the name in brackets, which may contain spaces; field 3 is the state, field 22 the start time.
  const fields = readProc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  return fields && fields[0] !== 'Z' ? (fields[19] ?? null) : null;
};

/** Command line of a process, or null when the process does not exist. */
export const commandOf = (pid: number): string | null => {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  return readProc(pid, 'cmdline')?.replaceAll('\0', ' ').trim() || null;
};

/** Polls `condition` for up to `timeoutMs`. Resolves to whether it became true. */
export const waitUntil = async (condition: () => boolean, timeoutMs: number): Promise<boolean> => {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await sleep(20))
    if (condition()) return true;
  return condition();
};

const readProc = (pid: number, file: string): string | null => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return null;
  }
};

const ps = (pid: number, column: string): string | null => {
  try {
    return (
      execFileSync('ps', ['-ww', '-o', column, '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' }).trim() || null
    );
  } catch {
    return null;
  }
};
