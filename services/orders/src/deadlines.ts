import { setTimeout as sleep } from 'node:timers/promises';
import { isAppError } from '@cpg/core';
import type { Pool } from '@cpg/postgres';
import { type CallContext, type Logger, newRequestId } from '@cpg/runtime';
import type { OrderCommands, OrderHandler } from './commands.ts';
import { exists } from './order/state.ts';

export interface DeadlineOptions {
  readonly readModel: Pool;
  readonly handler: OrderHandler;
  readonly commands: OrderCommands;
  readonly now: () => Date;
  readonly log: Logger;
  readonly everyMs?: number;
}

const EVERY_MS = 500;
const CLAIM = 50;
const CLAIMED_FOR_S = 30;

const CLAIM_DUE = `
  update orders.orders as row set claimed_until = $1::timestamptz + interval '${CLAIMED_FOR_S} seconds'
  from (select id from orders.orders where due_at <= $1 and (claimed_until is null or claimed_until < $1)
        order by due_at limit ${CLAIM} for update skip locked) as due
  where row.id = due.id returning row.id`;

/** Does what is due by the clock: expiry, renewal, instructions that were slow. Durable: what fell due while nothing ran is found at the
 *  next start. Any number of instances share the work; one that dies loses its claim after half a minute. */
export const watchDeadlines = (options: DeadlineOptions): { stop: () => Promise<void> } => {
  const stopping = new AbortController();
  const { readModel, now, log, everyMs = EVERY_MS } = options;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const found = await readModel.query<{ id: string }>(CLAIM_DUE, [now()]).catch((error: unknown) => {
        log.warn({ err: error }, 'cannot look for what is due');
        return { rows: [] };
      });
      for (const { id } of found.rows) {
        if (stopping.signal.aborted) break;
        await actOn(id, options);
      }
      if (found.rows.length < CLAIM) await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const actOn = async (orderId: string, { handler, commands, log }: DeadlineOptions): Promise<void> => {
  const requestId = newRequestId();
  const context: CallContext = { actor: 'service:orders', requestId, correlationId: requestId };
  try {
    const { state } = await handler.peek(orderId);
    if (exists(state)) await commands.due(state, context);
  } catch (error) {
    // Its claim runs out, and it is tried again then.
    if (!isAppError(error, 'not_found')) log.warn({ err: error, orderId }, 'what is due could not be done yet');
  }
};
