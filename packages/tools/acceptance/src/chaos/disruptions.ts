import { setTimeout as sleep } from 'node:timers/promises';
import type { Proxies } from '../harness/proxies.ts';
import { freeze, signal } from '../harness/process-tree.ts';
import { processesOf } from '../harness/stack-files.ts';
import type { Random } from '../harness/random.ts';

export interface DisruptionOptions {
  readonly dataDir: string;
  readonly proxies: Proxies;
  readonly random: Random;
  /** Whether every other disruption takes the event store away, like a cluster that has no leader for a while. */
  readonly outages: boolean;
  /** Gets one line for each disruption. */
  readonly log: (line: string) => void;
}

export interface Disruptions {
  readonly count: () => number;
  /** Starts no more disruptions. Resolves once frozen processes have resumed and the event store is available. */
  readonly stop: () => Promise<void>;
}

const PAUSE_MS = { from: 3_000, to: 5_000 };
const FREEZE_MS = { from: 500, to: 10_000 };
const UNAVAILABLE_MS = { from: 200, to: 8_000 };
const EVENT_STORE = 'eventstore';
/** After more frequent kills the launcher waits up to 5 s before it restarts the process. */
const KILLS_APART_MS = 20_000;

/** Every 3 to 5 seconds kills a process of the stack, freezes it for up to 10 s, or cuts its connections. Engines
 *  are included, and other processes may be disrupted while one is frozen. */
export const startDisruptions = (options: DisruptionOptions): Disruptions => {
  const { dataDir, proxies, random, outages, log } = options;
  let stopped = false;
  let count = 0;
  let wake = () => {};
  const resumed: Promise<void>[] = [];
  const ended = new Promise<void>((done) => (wake = done));
  const untilEnded = (ms: number) => Promise.race([sleep(ms), ended]);

  const kinds: Record<string, (name: string, pid: number) => void> = {
    kill: (name, pid) => {
      log(`kill -9 ${name}`);
      signal(pid, 'SIGKILL');
    },
    freeze: (name, pid) => {
      const forMs = random.between(FREEZE_MS.from, FREEZE_MS.to);
      log(`freeze ${name} for ${forMs} ms`);
      resumed.push(untilEnded(forMs).then(freeze(pid)));
    },
    cut: (name) => {
      log(`cut the connections to ${name}`);
      // Instances of a service are reached at the port of the service.
      proxies.cut(name.replace(/^(gateway|orders|payments)-\d+$/, '$1'));
    },
  };
  const disruptAny = (running: Record<string, number>) => {
    // Sorted, so that a seed picks the same processes whatever the order of their starts.
    const name = random.pick(Object.keys(running).sort());
    const kind = random.pick(Object.keys(kinds));
    kinds[kind]!(name, running[name]!);
  };

  let eventStoreBack: Promise<unknown> = Promise.resolve();
  let killedAt = -Infinity;
  const takeEventStoreAway = (pid: number | undefined) => {
    const forMs = random.between(UNAVAILABLE_MS.from, UNAVAILABLE_MS.to);
    const kills = pid !== undefined && performance.now() - killedAt > KILLS_APART_MS;
    log(`${kills ? 'kill -9' : 'block'} ${EVENT_STORE}, unavailable for ${forMs} ms`);
    if (kills) {
      signal(pid, 'SIGKILL');
      killedAt = performance.now();
    }
    const back = proxies.block(EVENT_STORE).then(async (unblock) => {
      await untilEnded(forMs);
      await unblock();
      log(`${EVENT_STORE} is reachable again`);
    });
    resumed.push(back);
    eventStoreBack = back.then(() => untilEnded(PAUSE_MS.from));
  };

  const done = (async () => {
    for (;;) {
      await untilEnded(random.between(PAUSE_MS.from, PAUSE_MS.to));
      if (stopped) return;
      if (!outages) {
        disruptAny(processesOf(dataDir));
      } else if (count % 2 === 0) {
        await eventStoreBack;
        if (stopped) return;
        takeEventStoreAway(processesOf(dataDir)[EVENT_STORE]);
      } else {
        const { [EVENT_STORE]: _, ...others } = processesOf(dataDir);
        disruptAny(others);
      }
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
