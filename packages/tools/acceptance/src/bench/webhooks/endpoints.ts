import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Received } from './receiver.ts';

const programOf = (name: string) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));

/** Starts merchants' endpoints in their own process. */
export const startEndpoints = async () => {
  const child = fork(programOf('receiver'), { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const origin = `http://127.0.0.1:${port}`;
  const received = async (): Promise<Received> => {
    child.send({});
    const [answer] = (await once(child, 'message')) as [Received];
    return answer;
  };
  return {
    urlOf: (path: string) => `${origin}/${path}`,
    /** The requests received since the last `received` or `reset`. */
    received,
    /** Discards the requests received so far. */
    reset: async (): Promise<void> => {
      await received();
    },
    /** Signed posts per second of a plain undici loop against these endpoints. */
    bareUndici: async (count: number, connections: number): Promise<number> => {
      const loop = spawn(process.execPath, [programOf('bare-undici'), origin, String(count), String(connections)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [perSecond] = (await once(createInterface({ input: loop.stdout }), 'line')) as [string];
      return Number(perSecond);
    },
    close: () => child.kill(),
  };
};

export type Endpoints = Awaited<ReturnType<typeof startEndpoints>>;
