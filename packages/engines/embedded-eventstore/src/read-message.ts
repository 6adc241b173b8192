import type { RecordedEvent } from './events.ts';

/** A message to the reader of a stream or of $all, named as in the protocol. */
export type ReadMessage =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'confirmation'; readonly subscriptionId: string }
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'stream-not-found'; readonly stream: string }
  | { readonly kind: 'first-stream-position'; readonly revision: bigint }
  | { readonly kind: 'last-stream-position'; readonly revision: bigint };
