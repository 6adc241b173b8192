import { readFileSync } from 'node:fs';
import { processTree } from '../harness/process-tree.ts';
import { mib, type Row } from './report.ts';

/** Resident memory of a process and its descendants, in bytes. Uses proportional set sizes, so shared pages count
 *  once. Null on a system without /proc. */
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

/** Compares the memory of a dispatcher with its goal. */
export const memoryRow = (measure: string, bytes: number | null): Row =>
  bytes === null
    ? { measure, measured: 'not available on this system' }
    : { measure, measured: mib(bytes), goal: { text: '< 250 MiB', met: bytes < 250 * 2 ** 20 } };
