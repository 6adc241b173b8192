import { ACCOUNT_STREAM_PREFIX } from '@cpg/contracts';
import type { Projection } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { merchantOfOrder } from './merchant-of-order.ts';
import { type OrderEnd, orderEndIn } from './order-end.ts';
import { ORDER_PREFIXES, type Payable, payableChangeIn } from './payable.ts';
import { keepPayables, projectEnds, projectPayables } from './payable-rows.ts';
import { projectReservedIndexes } from './reserved-indexes.ts';

/** The read model of payables and of reserved derivation indexes, built from the events of orders and accounts. */
export const payableProjection = (client: EventStoreDBClient): Projection => ({
  schema: 'payments',
  name: 'payables',
  tables: ['payables', 'reserved_indexes', 'derivation_ends'],
  version: 2,
  prefixes: [...ORDER_PREFIXES, ACCOUNT_STREAM_PREFIX],
  // An index is reserved by the event of an account before the event of an order shows it.
  isWhole: true,
  transientColumns: [],
  keepRows: keepPayables,
  apply: async (db, events, schema) => {
    const payables: Payable[] = [];
    const ends = new Map<string, OrderEnd>();
    for (const entry of events) {
      const end = orderEndIn(entry);
      if (end) ends.set(end.orderId, end);
      const change = await payableChangeIn(entry, (orderId) => merchantOfOrder(client, orderId));
      if (change?.kind === 'reserved') await projectReservedIndexes(db, change, schema);
      else if (change) payables.push(...change.payables);
    }
    // An index is reserved before an order shows it, and an order is deleted after it was created.
    await projectPayables(db, payables, schema);
    await projectEnds(db, [...ends.values()], schema);
  },
});
