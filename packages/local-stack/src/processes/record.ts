import { join } from 'node:path';
import { writeJson } from '../data/write.ts';
import { startGuard } from './guard.ts';

/** Keeps `processes.json` in step with what runs, and the guard too. */
export const processRecord = (dataDir: string, warn: (sentence: string) => void) => {
  const guard = startGuard();
  const pids = new Map<string, number>();
  return (name: string, pid: number | null): void => {
    if (pid === null) pids.delete(name);
    else pids.set(name, pid);
    guard.watch([...pids.values()]);
    try {
      writeJson(join(dataDir, 'processes.json'), Object.fromEntries(pids));
    } catch (error) {
      warn(`processes.json could not be written: ${(error as Error).message}`);
    }
  };
};
