import { type Program, supervise, type Supervised } from './supervisor.ts';

/** Some of a group's processes that stop together, after those of the phases before. */
export interface StopPhase {
  readonly includes: (name: string) => boolean;
  /** Milliseconds after the stop began, when they are ended by force. */
  readonly byMs: number;
}

export interface ProcessGroup {
  /** Starts a program and keeps it running; resolves when it has started. */
  readonly run: (program: Program) => Promise<void>;
  /** Stops all, phase by phase. Nothing can be run any more. */
  readonly stop: (phases: readonly StopPhase[]) => Promise<void>;
  /** Ends all at once. */
  readonly kill: () => void;
  readonly pidOf: (name: string) => number | null;
  /** The name of a process that ended at least so often, always soon after it had started. */
  readonly dyingOften: (deaths: number) => string | null;
}

/** What the group refuses to run a program with once it stops. */
export class GroupStopped extends Error {
  override readonly name = 'GroupStopped';
}

/** Supervised programs, by their names. */
export const processGroup = ({
  warn,
  changed,
}: {
  warn: (sentence: string) => void;
  changed: (name: string, pid: number | null) => void;
}): ProcessGroup => {
  const members = new Map<string, Supervised>();
  let stopping = false;
  return {
    run: async (program) => {
      if (stopping) throw new GroupStopped();
      const supervised = supervise(program, { warn, changed: (pid) => changed(program.name, pid) });
      members.set(program.name, supervised);
      await supervised.started;
    },
    stop: async (phases) => {
      stopping = true;
      const began = Date.now();
      const left = new Set(members.values());
      for (const { includes, byMs } of phases) {
        const leaving = [...left].filter(({ name }) => includes(name));
        const withinMs = Math.max(byMs - (Date.now() - began), 0);
        await Promise.all(leaving.map((supervised) => supervised.stop(withinMs)));
        for (const supervised of leaving) left.delete(supervised);
      }
    },
    kill: () => {
      stopping = true;
      for (const supervised of members.values()) supervised.kill();
    },
    pidOf: (name) => members.get(name)?.pid() ?? null,
    dyingOften: (deaths) => [...members.values()].find((supervised) => supervised.deaths() >= deaths)?.name ?? null,
  };
};
