import type { Client } from '@cpg/sdk';
import { ask, done, type Outcome } from './outcome.ts';
import type { Store } from './store.ts';
import { handOver, type OrderHandler } from './webhook/receive.ts';

export interface LookUpOptions {
  readonly client: Client;
  readonly store: Store;
  readonly shop: string;
  readonly onOrder: OrderHandler;
  readonly now: () => Date;
}

export interface LookedUp {
  readonly handled: number;
  /** A sentence for each order that the shop could not take. */
  readonly failures: readonly string[];
}

const NAME = 'looked-up-to';
// A list can show an order some time after it changed.
const OVERLAP_MS = 5 * 60_000;

/** Hands every order of the shop that changed since the last look-up to the handler, as its webhook does. Finds what
 *  was missed while the shop was down or the webhook was disabled. The mark moves only when the shop has taken every
 *  order. */
export const lookUp = async ({ client, store, shop, onOrder, now }: LookUpOptions): Promise<Outcome<LookedUp>> => {
  const mark = await store.read(NAME);
  const filter = {
    limit: 100,
    sort: 'asc',
    metadata: `shop=${shop}`,
    ...(mark !== undefined && { updated_from: mark }),
  } as const;
  const failures: string[] = [];
  let handled = 0;
  let reached: Date | undefined;
  let cursor: string | undefined;
  do {
    const page = await ask(() => client.raw.listOrders({ ...filter, ...(cursor !== undefined && { cursor }) }));
    if (!page.ok) return page;
    const { data, response } = page.value;
    // What changes while this runs is after the first answer: it is found again.
    reached ??= timeOf(response.headers.get('date'), now);
    for (const order of data.items) {
      const { result, message } = await handOver(order.id, order, [], { shop, onOrder });
      if (result === 'failed') failures.push(message);
      if (result === 'handled') handled += 1;
    }
    cursor = data.next_cursor;
  } while (cursor !== undefined);
  const next = new Date(reached.getTime() - OVERLAP_MS).toISOString();
  if (failures.length === 0 && (mark === undefined || next > mark)) await store.replace(NAME, mark, next);
  return done({ handled, failures });
};

/** The gateway's clock, whose times the list compares. */
const timeOf = (date: string | null, now: () => Date): Date => {
  const time = new Date(date ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? now() : time;
};
