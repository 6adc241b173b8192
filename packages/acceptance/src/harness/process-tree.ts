import { readdirSync, readFileSync } from 'node:fs';

/** The process that started another one. Throws when that is gone, or where the system has no /proc (it is Linux that has). */
export const parentOf = (pid: number): number => {
  // After the name in parentheses, which may hold anything: state, then the parent's id.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
};

/** A process and all below it. Throws where the system has no /proc. */
export const processTree = (rootPid: number): number[] => {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const parent = parentOf(pid);
      children.set(parent, [...(children.get(parent) ?? []), pid]);
    } catch {
      // It ended meanwhile.
    }
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(rootPid);
};

/** Sends a signal. A process that is gone, or another's by now, has no need of it. */
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/** Stops a process and all below it where they stand (PostgreSQL works in children of its own), until the function it returns is called.
 *  Where the system does not tell of children, only the first one freezes. */
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
