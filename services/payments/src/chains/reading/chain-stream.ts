import { CHAIN_STREAM_PREFIX, ChainEvent } from '@cpg/contracts';
import { appendOne, endOf, lastEvent } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { ChainKind } from '../chain-kind.ts';
import type { BlockRef } from '../chain-source.ts';
import type { ChainStore } from './chain-store.ts';
import type { Reading } from './reading.ts';

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

/** Records the oldest known block on the stream of the chain, once in a window, and only when all blocks up to it were
 *  read again and no transfer in them can change any more. */
export const checkpointRecorder = ({
  kind,
  store,
  stream,
}: {
  readonly kind: ChainKind;
  readonly store: ChainStore;
  readonly stream: ChainStream;
}) => {
  let last: number | null = null;
  return async ({ window: [oldest], rechecked }: Reading): Promise<void> => {
    last ??= (await stream.last())?.height ?? 0;
    if (!oldest || oldest.height < last + kind.windowBlocks || oldest.height > rechecked()) return;
    const open = await store.open();
    if (open.some(({ block }) => block !== null && block.height <= oldest.height)) return;
    // A rescan of another process may have begun at a lower block: the stream knows.
    last = (await stream.last())?.height ?? 0;
    if (oldest.height < last + kind.windowBlocks) return;
    await stream.readUpTo(oldest);
    last = oldest.height;
  };
};
