import { z } from 'zod';
import { Timestamp } from './ids.ts';

/** The names of the streams of chains start with this prefix; the name of the network follows. */
export const CHAIN_STREAM_PREFIX = 'chain-';

const BlockPlace = {
  network: z.string(),
  height: z.int(),
  hash: z.string(),
  /** When the event was recorded. */
  at: Timestamp,
};

/** Reading of a chain began after this block, for the first time or because an operator asked for a rescan. */
export const ChainReadingStarted = z.object({
  type: z.literal('ChainReadingStarted'),
  data: z.looseObject({
    ...BlockPlace,
    /** CAIP-2. */
    chainId: z.string(),
    /** Hash of block 0. */
    genesis: z.string(),
  }),
});

/** All transfers up to this block are final and reported. A payments service whose tables are lost continues after
 *  it. */
export const ChainReadUpTo = z.object({ type: z.literal('ChainReadUpTo'), data: z.looseObject(BlockPlace) });

export const ChainEvent = z.discriminatedUnion('type', [ChainReadingStarted, ChainReadUpTo]);
export type ChainEvent = z.infer<typeof ChainEvent>;
