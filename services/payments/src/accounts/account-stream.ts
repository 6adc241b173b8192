import { ACCOUNT_STREAM_PREFIX, DerivationIndexesReserved } from '@cpg/contracts';
import { append, chainEvents, genesisHash, lastEvent } from '@cpg/event-store';
import { newContext, newId } from '@cpg/runtime';
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
  let head = { revision: -1, hash: genesisHash(stream) };
  return {
    last: async () => {
      const newest = await lastEvent(client, stream, DerivationIndexesReserved);
      if (!newest) return null;
      const { revision, metadata, event } = newest;
      head = { revision, hash: metadata.hash };
      return { revision, next: event.data.first + event.data.count };
    },
    append: async ({ first, count, again }, revision) => {
      if (revision !== head.revision) throw new Error(`${stream} was not read up to ${revision}`);
      const event: DerivationIndexesReserved = {
        type: 'DerivationIndexesReserved',
        data: { account, first, count, again: [...again], at: now().toISOString() },
      };
      const context = newContext(ACTOR, newId('event'));
      const events = chainEvents([event], stream, head, context, { causationId: context.requestId });
      const result = await append(client, stream, events, revision);
      if (result === 'deleted')
        throw new Error(`the stream ${stream} was deleted: restore the event store from a backup`);
      if (result === 'conflict') return false;
      head = { revision: revision + 1, hash: events[0]!.metadata.hash };
      return true;
    },
  };
};
