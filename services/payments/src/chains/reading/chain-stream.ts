import { CHAIN_STREAM_PREFIX, ChainEvent } from '@cpg/contracts';
import { appendOne, endOf, lastEvent } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { BlockRef } from '../chain-source.ts';

/** A recorded place on a chain. */
export interface RecordedPlace extends BlockRef {
  /** Hash of block 0; absent in checkpoints. */
  readonly genesis?: string;
}

/** The stream of what was read from a network, for the case that the tables are lost. Its appends can be repeated. */
export interface ChainStream {
  readonly last: () => Promise<RecordedPlace | null>;
  readonly started: (place: Required<RecordedPlace>) => Promise<void>;
  readonly readUpTo: (place: BlockRef) => Promise<void>;
}

export const chainStream = (
  client: EventStoreDBClient,
  { network, chainId, now }: { readonly network: string; readonly chainId: string; readonly now: () => Date },
): ChainStream => {
  const stream = `${CHAIN_STREAM_PREFIX}${network}`;
  const record = async (event: ChainEvent): Promise<void> => {
    const end = endOf(stream, await lastEvent(client, stream, ChainEvent));
    // On a conflict another process recorded a place just now, and reads this chain.
    if (!(await appendOne(client, stream, event, end, 'service:payments')))
      throw new Error(`${stream} was changed meanwhile`);
  };
  const placeOf = ({ height, hash }: BlockRef) => ({ network, height, hash, at: now().toISOString() });
  return {
    last: async () => {
      const newest = await lastEvent(client, stream, ChainEvent);
      if (!newest) return null;
      const { type, data } = newest.event;
      const place = { height: data.height, hash: data.hash };
      return type === 'ChainReadingStarted' ? { ...place, genesis: data.genesis } : place;
    },
    started: ({ genesis, ...ref }) =>
      record({ type: 'ChainReadingStarted', data: { ...placeOf(ref), chainId, genesis } }),
    readUpTo: (ref) => record({ type: 'ChainReadUpTo', data: placeOf(ref) }),
  };
};
