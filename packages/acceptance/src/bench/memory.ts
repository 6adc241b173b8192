import { readFileSync } from 'node:fs';
import { processTree } from '../harness/process-tree.ts';

/** Resident memory of a process and all below it, in bytes: proportional set sizes, so that shared pages count once. Null where the
 *  system does not tell (it is Linux that does). */
export const residentBytes = (rootPid: number): number | null => {
  try {
    return processTree(rootPid).reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  } catch {
    return null;
  }
};

const proportionalBytes = (pid: number): number => {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kilobytes ?? 0) * 1_024;
};
