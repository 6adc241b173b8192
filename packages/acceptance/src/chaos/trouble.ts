import { setTimeout as sleep } from 'node:timers/promises';
import { freeze, signal } from '../harness/process-tree.ts';
import { processesOf } from '../harness/stack-files.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';

export interface TroubleOptions {
  readonly dataDir: string;
  readonly network: Network;
  readonly random: Random;
  /** One sentence for each thing that was done. */
  readonly say: (sentence: string) => void;
}

export interface Trouble {
  readonly count: () => number;
  /** Nothing more breaks; resolves once what was frozen has thawed. */
  readonly end: () => Promise<void>;
}

const PAUSE_MS = { from: 3_000, to: 5_000 };
const FREEZE_MS = { from: 500, to: 10_000 };

/** Every 3 to 5 seconds something happens to one process of the stack, engines included: it is killed, frozen for up to 10 s, or its
 *  connections are cut. Others may break while one is frozen. */
export const makeTrouble = ({ dataDir, network, random, say }: TroubleOptions): Trouble => {
  let over = false;
  let count = 0;
  let wake = () => {};
  const thaws: Promise<void>[] = [];
  const ended = new Promise<void>((done) => (wake = done));

  const kinds: Record<string, (name: string, pid: number) => void> = {
    kill: (name, pid) => {
      say(`kill -9 ${name}`);
      signal(pid, 'SIGKILL');
    },
    freeze: (name, pid) => {
      const forMs = random.between(FREEZE_MS.from, FREEZE_MS.to);
      say(`freeze ${name} for ${forMs} ms`);
      thaws.push(Promise.race([sleep(forMs), ended]).then(freeze(pid)));
    },
    cut: (name) => {
      say(`cut the connections to ${name}`);
      network.cut(name);
    },
  };

  const done = (async () => {
    for (;;) {
      await Promise.race([sleep(random.between(PAUSE_MS.from, PAUSE_MS.to)), ended]);
      if (over) return;
      const running = processesOf(dataDir);
      // Chance has to come to the same things each time, whatever the order of the starts was.
      const name = random.pick(Object.keys(running).sort());
      const kind = random.pick(Object.keys(kinds));
      kinds[kind]!(name, running[name]!);
      count += 1;
    }
  })();

  return {
    count: () => count,
    end: async () => {
      over = true;
      wake();
      await done;
      await Promise.all(thaws);
    },
  };
};
