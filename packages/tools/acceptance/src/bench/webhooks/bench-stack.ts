import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { createApi } from '../../harness/api.ts';
import { orderBody } from '../../harness/order-bodies.ts';
import { type Stack, startStack } from '../../harness/stack.ts';
import { until } from '../../harness/until.ts';
import type { Received } from './receiver.ts';

/** A stack and merchants' endpoints for its webhooks. */
export interface BenchStack {
  readonly stack: Stack;
  readonly db: pg.Pool;
  readonly endpoints: Awaited<ReturnType<typeof startEndpoints>>;
  /** An enabled webhook of the sandbox merchant that all dispatchers know. */
  readonly webhookId: string;
}

/** Runs `work` on a new stack with `dispatchers` dispatchers, then stops the stack. */
export const withBenchStack = async <T>(dispatchers: number, work: (bench: BenchStack) => Promise<T>): Promise<T> => {
  const endpoints = await startEndpoints();
  const stack = await startStack({ dispatchers });
  const db = new pg.Pool({ connectionString: stack.databaseUrl, max: 4 });
  db.on('error', () => {}); // The stack may end first.
  try {
    const api = createApi(stack);
    const { id } = await api.createWebhook({ url: endpoints.urlOf('ok/own'), events: ['order:created'] });
    await api.updateWebhook(id, { is_enabled: true });
    await until('a delivery', async () => {
      await api.createOrder(orderBody());
      await sleep(200);
      return (await endpoints.received()).deliveries > 0;
    });
    await api.close();
    return await work({ stack, db, endpoints, webhookId: id });
  } finally {
    await db.end();
    await stack.stop();
    endpoints.close();
  }
};

/** Starts merchants' endpoints in their own process. */
const startEndpoints = async () => {
  const child = fork(fileURLToPath(new URL('./receiver.js', import.meta.url)), { execArgv: [] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    urlOf: (path: string) => `http://127.0.0.1:${port}/${path}`,
    /** The deliveries received since the last call. */
    received: async (): Promise<Received> => {
      child.send({});
      const [answer] = (await once(child, 'message')) as [Received];
      return answer;
    },
    close: () => child.kill(),
  };
};
