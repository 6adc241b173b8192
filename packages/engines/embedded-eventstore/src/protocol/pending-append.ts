import type sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent } from '../events.ts';

/** One append of a batch call: its events are still arriving, or it waits for its commit. */
export interface PendingAppend {
  readonly correlationId: sharedPb.UUID | undefined;
  readonly options: streamsPb.BatchAppendReq.Options;
  readonly events: ProposedEvent[];
  /** Aborting it withdraws the append, unless its commit has begun. */
  readonly abandoned: AbortController;
  /** Size of the events, as counted for the limit of one append. */
  bytes: number;
  /** Memory of the events. */
  heldBytes: number;
  /** Whether the last event has arrived. */
  isComplete: boolean;
}

export const pendingAppend = (
  correlationId: sharedPb.UUID | undefined,
  options: streamsPb.BatchAppendReq.Options,
): PendingAppend => ({
  correlationId,
  options,
  events: [],
  abandoned: new AbortController(),
  bytes: 0,
  heldBytes: 0,
  isComplete: false,
});

/** A map key for the correlation id in either of its wire forms. A missing id is a key, too. */
export const keyOf = (correlationId: sharedPb.UUID | undefined): string =>
  Buffer.from(correlationId?.serializeBinary() ?? []).toString('latin1');

export const isPastDeadline = (options: streamsPb.BatchAppendReq.Options, nowMs: number): boolean => {
  const deadline = options.getDeadline();
  return deadline !== undefined && deadline.toDate().getTime() <= nowMs;
};
