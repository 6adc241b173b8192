import { isTombstone, type LogPosition, positionOf } from '../store/recorded.ts';
import { UnreadableEventError } from '../store/unreadable.ts';
import { retry } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { isOutage, RefusedMessageError } from './outage.ts';
import type { ParkedStreams } from './parked-streams.ts';

type Handle = (events: AllStreamResolvedEvent[], position: LogPosition) => Promise<void>;

const MAX_ATTEMPTS = 5;

/** Handles batches so that an event which cannot be handled stops only its own stream: after a fault, each event is
 *  handled alone, and the stream of one that fails again is parked. An outage is thrown: nothing is parked for it. */
export const isolateFaults =
  (handle: Handle, parked: ParkedStreams, signal: AbortSignal): Handle =>
  async (events, position) => {
    // A tombstone needs no earlier event.
    const isReady = (entry: AllStreamResolvedEvent) => isTombstone(entry) || !parked.has(entry.event!.streamId);
    const ready = events.filter(isReady);
    try {
      return await withAttempts(() => handle(ready, position), signal);
    } catch (error) {
      if (isOutage(error) || signal.aborted) throw error;
    }
    for (const entry of ready) {
      if (!isReady(entry)) continue;
      try {
        await withAttempts(() => handle([entry], positionOf(entry)), signal);
      } catch (error) {
        if (isOutage(error) || signal.aborted) throw error;
        await parked.park(entry, error);
      }
    }
    // Moves the checkpoint past the parked events.
    await handle([], position);
  };

/** A retry cannot make an event readable, or its message acceptable; an unknown error may be a passing one. */
const withAttempts = (work: () => Promise<void>, signal: AbortSignal): Promise<void> =>
  retry(work, {
    signal,
    maxMs: 500,
    onError: (error, attempt) => {
      const isForGood = error instanceof UnreadableEventError || error instanceof RefusedMessageError;
      if (isForGood || isOutage(error) || attempt >= MAX_ATTEMPTS) throw error;
    },
  });
