import { setTimeout as sleep } from 'node:timers/promises';
import { freeze, signal } from '../harness/process-tree.ts';
import { processesOf } from '../harness/stack-files.ts';
import type { Proxies } from './proxies.ts';
import type { Random } from './random.ts';

export interface DisruptionOptions {
  readonly dataDir: string;
  readonly proxies: Proxies;
  readonly random: Random;
  /** Gets one line for each disruption. */
  readonly log: (line: string) => void;
}

export interface Disruptions {
  readonly count: () => number;
  /** Starts no more disruptions. Resolves once frozen processes have resumed. */
  readonly stop: () => Promise<void>;
}

const PAUSE_MS = { from: 3_000, to: 5_000 };
const FREEZE_MS = { from: 500, to: 10_000 };

/** Every 3 to 5 seconds kills a process of the stack, freezes it for up to 10 s, or cuts its connections. Engines
 *  are included, and other processes may be disrupted while one is frozen. */
export const startDisruptions = ({ dataDir, proxies, random, log }: DisruptionOptions): Disruptions => {
  let stopped = false;
  let count = 0;
  let wake = () => {};
  const resumed: Promise<void>[] = [];
  const ended = new Promise<void>((done) => (wake = done));

  const kinds: Record<string, (name: string, pid: number) => void> = {
    kill: (name, pid) => {
      log(`kill -9 ${name}`);
      signal(pid, 'SIGKILL');
    },
    freeze: (name, pid) => {
      const forMs = random.between(FREEZE_MS.from, FREEZE_MS.to);
      log(`freeze ${name} for ${forMs} ms`);
      resumed.push(Promise.race([sleep(forMs), ended]).then(freeze(pid)));
    },
    cut: (name) => {
      log(`cut the connections to ${name}`);
      proxies.cut(name);
    },
  };

  const done = (async () => {
    for (;;) {
      await Promise.race([sleep(random.between(PAUSE_MS.from, PAUSE_MS.to)), ended]);
      if (stopped) return;
      const running = processesOf(dataDir);
      // Sorted, so that a seed picks the same processes whatever the order of their starts.
      const name = random.pick(Object.keys(running).sort());
      const kind = random.pick(Object.keys(kinds));
      kinds[kind]!(name, running[name]!);
      count += 1;
    }
  })();

  return {
    count: () => count,
    stop: async () => {
      stopped = true;
      wake();
      await done;
      await Promise.all(resumed);
    },
  };
};
