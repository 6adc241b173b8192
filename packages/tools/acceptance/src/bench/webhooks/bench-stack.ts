import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createApi } from '../../harness/api.ts';
import { orderBody } from '../../harness/order-bodies.ts';
import { type Stack, startStack } from '../../harness/stack.ts';
import { until } from '../../harness/until.ts';
import { type Endpoints, startEndpoints } from './endpoints.ts';

/** A stack and merchants' endpoints for its webhooks. */
export interface BenchStack {
  readonly stack: Stack;
  readonly db: pg.Pool;
  readonly endpoints: Endpoints;
  /** An enabled webhook of the sandbox merchant that all dispatchers know. */
  readonly webhookId: string;
}

export const DRAINED_WITHIN_MS = 300_000;

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
      return (await endpoints.received()).requests > 0;
    });
    await api.close();
    return await work({ stack, db, endpoints, webhookId: id });
  } finally {
    await db.end();
    await stack.stop();
    endpoints.close();
  }
};
