import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory of a process and all below it, in bytes: proportional set sizes, so that shared pages count once. Null where the
 *  system does not tell (it is Linux that does). */
export const residentBytes = (rootPid: number): number | null => {
  try {
    return descendants(rootPid).reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  } catch {
    return null;
  }
};

/** The process that started another one. */
export const parentOf = (pid: number): number => {
  // After the name in parentheses, which may hold anything: state, then the parent's id.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
};

const descendants = (rootPid: number): number[] => {
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

const proportionalBytes = (pid: number): number => {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kilobytes ?? 0) * 1_024;
};
