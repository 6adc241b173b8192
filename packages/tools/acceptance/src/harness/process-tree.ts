import { readdirSync, readFileSync } from 'node:fs';

/** The fields of /proc/<pid>/stat after the name: the state, the parent's id, and so on. Source: proc(5).
 *  Throws if the process has ended, or on a system without /proc. */
export const statOf = (pid: number): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name is in parentheses and may contain any character.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
};

/** A process and its descendants. Throws on a system without /proc. */
export const processTree = (rootPid: number): number[] => {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const parent = Number(statOf(pid)[1]);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // The process has ended.
    }
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(rootPid);
};

/** Sends a signal, unless the process has ended. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** Suspends a process and its descendants (PostgreSQL works in child processes). Returns a function that resumes them.
 *  On a system without /proc only the process itself is suspended. */
export const freeze = (pid: number): (() => void) => {
  const pids = treeOf(pid);
  for (const each of pids) signal(each, 'SIGSTOP');
  return () => {
    for (const each of pids) signal(each, 'SIGCONT');
  };
};

const treeOf = (pid: number): number[] => {
  try {
    return processTree(pid);
  } catch {
    return [pid];
  }
};
