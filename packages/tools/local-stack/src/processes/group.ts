import { join } from 'node:path';
import { writeJson } from '../data/write-file.ts';
import { startGuard } from './guard.ts';
import { type Program, supervise, type Supervised } from './supervisor.ts';

/** Processes that stop together, after those of the earlier phases. */
export interface StopPhase {
  readonly includes: (name: string) => boolean;
  /** Time after the start of the stop when these processes are killed, in ms. */
  readonly deadlineMs: number;
}

export interface ProcessGroup {
  /** Starts a program and restarts it when it exits. Resolves after the first start. */
  readonly run: (program: Program) => Promise<void>;
  /** Stops all processes phase by phase. After that, `run` throws GroupStoppedError. */
  readonly stop: (phases: readonly StopPhase[]) => Promise<void>;
  /** Kills all processes. */
  readonly kill: () => void;
  /** Name of a process that crashed at least this often, each time soon after its start; null if there is none. */
  readonly crashLooping: (crashes: number) => string | null;
}

/** The group is stopping and starts no more programs. */
export class GroupStoppedError extends Error {
  override readonly name = 'GroupStoppedError';
}

/** Runs supervised programs by name. */
export const createProcessGroup = ({
  warn,
  onPidChange,
}: {
  warn: (sentence: string) => void;
  onPidChange: (name: string, pid: number | null) => void;
}): ProcessGroup => {
  const members = new Map<string, Supervised>();
  let stopping = false;
  return {
    run: async (program) => {
      if (stopping) throw new GroupStoppedError();
      const supervised = supervise(program, { warn, onPidChange: (pid) => onPidChange(program.name, pid) });
      members.set(program.name, supervised);
      await supervised.started;
    },
    stop: async (phases) => {
      stopping = true;
      const startedAt = performance.now();
      const remaining = new Set(members.values());
      for (const { includes, deadlineMs } of phases) {
        const phase = [...remaining].filter(({ name }) => includes(name));
        const timeoutMs = Math.max(deadlineMs - (performance.now() - startedAt), 0);
        await Promise.all(phase.map((supervised) => supervised.stop(timeoutMs)));
        for (const supervised of phase) remaining.delete(supervised);
      }
    },
    kill: () => {
      stopping = true;
      for (const supervised of members.values()) supervised.kill();
    },
    crashLooping: (crashes) =>
      [...members.values()].find((supervised) => supervised.crashes() >= crashes)?.name ?? null,
  };
};

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
