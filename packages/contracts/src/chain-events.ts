import { z } from 'zod';
import { Timestamp } from './ids.ts';

/** The names of the streams of chains start with this prefix; the name of the network follows. */
export const CHAIN_STREAM_PREFIX = 'chain-';

const Place = { network: z.string(), height: z.int(), hash: z.string(), at: Timestamp };

/** Reading of a chain began after this block, for the first time or because an operator asked for a rescan. */
export const ChainReadingStarted = z.object({
  type: z.literal('ChainReadingStarted'),
  data: z.looseObject({
    ...Place,
    /** CAIP-2. */
    chainId: z.string(),
    /** Hash of block 0. */
    genesis: z.string(),
  }),
});

/** All transfers up to this block are final and reported. Who lost the tables continues after it. */
export const ChainReadUpTo = z.object({ type: z.literal('ChainReadUpTo'), data: z.looseObject(Place) });

export const ChainEvent = z.discriminatedUnion('type', [ChainReadingStarted, ChainReadUpTo]);
export type ChainEvent = z.infer<typeof ChainEvent>;
