import { readFileSync } from 'node:fs';
import { processTree } from '../harness/process-tree.ts';

// What Linux counts in for user programs, whatever its kernel does. Source: proc(5).
const TICKS_PER_SECOND = 100;

/** Seconds of CPU that processes and all below them have used so far, with those below that have ended. Null where the system does not
 *  tell (it is Linux that does). */
export const cpuSeconds = (pids: readonly number[]): number | null => {
  try {
    const running = pids.flatMap(processTree).reduce((sum, pid) => sum + ticksIfRunning(pid), 0);
    const ended = pids.reduce((sum, pid) => sum + ticks(pid, [13, 14]), 0);
    return (running + ended) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
};

/** Nothing of one that ended meanwhile: its parent counts it by now. */
const ticksIfRunning = (pid: number): number => {
  try {
    return ticks(pid, [11, 12]);
  } catch {
    return 0;
  }
};

/** Fields of /proc/<pid>/stat, counted after the name: 11 and 12 are its own time, 13 and 14 that of children that have ended. */
const ticks = (pid: number, fields: readonly number[]): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.reduce((sum, field) => sum + Number(values[field]), 0);
};
