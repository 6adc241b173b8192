import { join } from 'node:path';
import { writeJson } from '../data/write-file.ts';
import { type StopPhase } from './group.ts';
import { startGuard } from './guard.ts';

/** Returns a function that records each started and ended process in `processes.json`, and informs the guard. */
export const createProcessRecord = (
  dataDir: string,
  phases: readonly StopPhase[],
  warn: (sentence: string) => void,
) => {
  const guard = startGuard();
  const pids = new Map<string, number>();
  const phaseOf = (name: string) => phases.findIndex(({ includes }) => includes(name));
  return (name: string, pid: number | null): void => {
    if (pid === null) pids.delete(name);
    else pids.set(name, pid);
    const running = [...pids];
    guard.watch(phases.map((_, phase) => running.filter(([name]) => phaseOf(name) === phase).map(([, pid]) => pid)));
    try {
      writeJson(join(dataDir, 'processes.json'), Object.fromEntries(pids));
    } catch (error) {
      warn(`processes.json could not be written: ${(error as Error).message}`);
    }
  };
};
