import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** When a process began, in the words of the system: together with its id this tells it from a later one with the same id.
 *  Null when there is no such process, or only its remains that nobody has collected. */
export const startedAt = (pid: number): string | null => {
  if (process.platform !== 'linux') return ps(pid, 'lstart=');
  // proc(5): the second field is the name in brackets, which may hold spaces; the third is the state, the 22nd the start.
  const fields = readProc(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  return fields && fields[0] !== 'Z' ? (fields[19] ?? null) : null;
};

/** The command line of a process, or null when there is none. */
export const commandOf = (pid: number): string | null => {
  if (process.platform !== 'linux') return ps(pid, 'command=');
  return readProc(pid, 'cmdline')?.replaceAll('\0', ' ').trim() || null;
};

/** Waits until `done` or for so many milliseconds; tells whether it came true. */
export const waitUntil = async (done: () => boolean, withinMs: number): Promise<boolean> => {
  for (const end = Date.now() + withinMs; Date.now() < end; await sleep(20)) if (done()) return true;
  return done();
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
