import { ACCOUNT_STREAM_PREFIX, DerivationIndexesReserved } from '@cpg/contracts';
import { appendOne, endOf, lastEvent } from '@cpg/event-store';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { AccountOptions } from './lease-indexes.ts';

const ACTOR = 'service:payments';

/** The stream of an account's reservations. */
export const accountStream = (
  client: EventStoreDBClient,
  account: string,
  now: () => Date,
): Pick<AccountOptions, 'last' | 'append'> => {
  const stream = accountStreamOf(account);
  let end = endOf(stream, null);
  return {
    last: async () => {
      const newest = await lastReservation(client, account);
      if (!newest) return null;
      end = endOf(stream, newest);
      return { revision: newest.revision, next: nextIndexAfter(newest.event) };
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

const accountStreamOf = (account: string): string => `${ACCOUNT_STREAM_PREFIX}${account}`;

const lastReservation = (client: EventStoreDBClient, account: string) =>
  lastEvent(client, accountStreamOf(account), DerivationIndexesReserved);

const nextIndexAfter = ({ data: { first, count } }: DerivationIndexesReserved): number => first + count;

/** The next index of an account: above all that its stream ever reserved. */
export const nextReservedIndex = async (client: EventStoreDBClient, account: string): Promise<number> => {
  const newest = await lastReservation(client, account);
  return newest ? nextIndexAfter(newest.event) : 0;
};
