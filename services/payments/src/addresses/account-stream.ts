import { ACCOUNT_STREAM_PREFIX, DerivationIndexesReserved } from '@cpg/contracts';
import { appendOne, endOf, lastEvent } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { AccountOptions } from './lease-indexes.ts';

const ACTOR = 'service:payments';

/** The stream of an account's reservations. */
export const accountStream = (
  client: EventStoreDBClient,
  account: string,
  now: () => Date,
): Pick<AccountOptions, 'last' | 'append'> => {
  const stream = `${ACCOUNT_STREAM_PREFIX}${account}`;
  let end = endOf(stream, null);
  return {
    last: async () => {
      const newest = await lastEvent(client, stream, DerivationIndexesReserved);
      if (!newest) return null;
      end = endOf(stream, newest);
      const { first, count } = newest.event.data;
      return { revision: newest.revision, next: first + count };
    },
    append: async ({ first, count, again, skipped }, revision) => {
      if (revision !== end.revision) throw new Error(`${stream} was not read up to ${revision}`);
      const event: DerivationIndexesReserved = {
        type: 'DerivationIndexesReserved',
        data: { account, first, count, again: [...again], ...(skipped && { skipped }), at: now().toISOString() },
      };
      const appended = await appendOne(client, stream, event, end, ACTOR);
      if (!appended) return false;
      end = appended;
      return true;
    },
  };
};
