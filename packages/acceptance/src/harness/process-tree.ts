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
