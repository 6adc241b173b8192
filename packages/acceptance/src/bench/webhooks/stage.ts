import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createApi } from '../../harness/api.ts';
import { orderBody } from '../../harness/order-bodies.ts';
import { type Stack, startStack } from '../../harness/stack.ts';
import { until } from '../../harness/until.ts';
import { type Endpoints, startEndpoints } from './endpoints.ts';

/** A stack with so many dispatchers, and endpoints for them. */
export interface Stage {
  readonly stack: Stack;
  readonly db: pg.Pool;
  readonly endpoints: Endpoints;
  /** A webhook of the sandbox merchant: enabled, and known to the dispatchers. */
  readonly webhookId: string;
}

export const PATIENCE_MS = 300_000;

/** What `work` finds on a stage of its own, that is gone when this resolves. */
export const onStage = async <T>(dispatchers: number, work: (stage: Stage) => Promise<T>): Promise<T> => {
  const endpoints = await startEndpoints();
  const stack = await startStack({ dispatchers });
  const db = new pg.Pool({ connectionString: stack.databaseUrl, max: 4 });
  db.on('error', () => {}); // The stack may be gone first.
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
