import { readFileSync } from 'node:fs';
import { processTree, statOf } from '../harness/process-tree.ts';
import type { Stack } from '../harness/stack.ts';
import { atMost, mib, type Row } from './report.ts';

// CPU time and memory of processes, from /proc. NaN on a system without it.

// Linux counts in these units for user programs, whatever the kernel uses. Source: proc(5).
const TICKS_PER_SECOND = 100;

/** CPU milliseconds that processes and their descendants have used, including descendants that have ended. */
export const cpuMs = (...pids: readonly number[]): number => {
  try {
    const running = pids.flatMap(processTree).reduce((sum, pid) => sum + ticksIfRunning(pid), 0);
    const ended = pids.reduce((sum, pid) => sum + ticks(pid, [13, 14]), 0);
    return ((running + ended) * 1_000) / TICKS_PER_SECOND;
  } catch {
    return NaN;
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

/** Sums fields of `statOf`: 11 and 12 are its own time, 13 and 14 the time of ended children. */
const ticks = (pid: number, fields: readonly number[]): number => {
  const stat = statOf(pid);
  return fields.reduce((sum, field) => sum + Number(stat[field]), 0);
};

/** Starts to measure the CPU time of processes of a stack. The returned function resolves to the milliseconds per
 *  order of each process. */
export const cpuMeter = (stack: Pick<Stack, 'pidOf'>, names: readonly string[]) => {
  const read = (name: string) => cpuMs(stack.pidOf(name)!);
  const before = names.map(read);
  return (orders: number): [name: string, ms: number][] =>
    names.map((name, index) => [name, (read(name) - before[index]!) / orders]);
};

/** Resident memory of a process and its descendants, in bytes. Uses proportional set sizes, so shared pages count
 *  once. */
export const residentBytes = (rootPid: number): number => {
  try {
    return processTree(rootPid).reduce((sum, pid) => sum + proportionalBytes(pid), 0);
  } catch {
    return NaN;
  }
};

const proportionalBytes = (pid: number): number => {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kilobytes ?? 0) * 1_024;
};

/** Compares resident memory with its goal. */
export const memoryRow = (measure: string, bytes: number, mostMib: number): Row => ({
  measure,
  measured: mib(bytes),
  goal: atMost(bytes / 2 ** 20, mostMib, ' MiB'),
});
