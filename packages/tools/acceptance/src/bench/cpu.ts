import { readFileSync } from 'node:fs';
import { processTree } from '../harness/process-tree.ts';

// Linux counts in these units for user programs, whatever the kernel uses. Source: proc(5).
const TICKS_PER_SECOND = 100;

/** CPU seconds that processes and their descendants have used, including descendants that have ended. Null on a
 *  system without /proc. */
export const cpuSeconds = (pids: readonly number[]): number | null => {
  try {
    const running = pids.flatMap(processTree).reduce((sum, pid) => sum + ticksIfRunning(pid), 0);
    const ended = pids.reduce((sum, pid) => sum + ticks(pid, [13, 14]), 0);
    return (running + ended) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
};

/** 0 for a process that has ended: its parent includes its time. */
const ticksIfRunning = (pid: number): number => {
  try {
    return ticks(pid, [11, 12]);
  } catch {
    return 0;
  }
};

/** Sums fields of /proc/<pid>/stat, counted after the name: 11 and 12 are its own time, 13 and 14 the time of ended
 *  children. */
const ticks = (pid: number, fields: readonly number[]): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.reduce((sum, field) => sum + Number(values[field]), 0);
};
