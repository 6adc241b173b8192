import { AppError } from '@cpg/core';
import { within } from '@cpg/runtime';
import {
  type EventStoreDBClient,
  jsonEvent,
  type ResolvedEvent,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { z } from 'zod';
import { endWithin } from './end-within.ts';
import { type DomainEvent, eventUuid, parseRecorded, type Recorded } from './recorded.ts';

const READ_WITHIN_MS = 5_000;
const APPEND_WITHIN_MS = 4_000;
const APPEND_TRIES = 2;

/** Reads a stream from its first event. Null when it was tombstoned; empty when it never was. */
export const readStream = async <E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): Promise<Recorded<E>[] | null> => {
  const recorded: Recorded<E>[] = [];
  const reading = client.readStream(stream, { fromRevision: 'start', direction: 'forwards' });
  const read = async () => {
    for await (const resolved of reading) recorded.push(parseRecorded(schema, resolved));
  };
  try {
    await endWithin(READ_WITHIN_MS, reading, read());
    return recorded;
  } catch (error) {
    if (error instanceof StreamNotFoundError) return [];
    if (error instanceof StreamDeletedError) return null;
    throw asOutage(error);
  }
};

/** The events of a stream one at a time, from its first, so that a long one is never in memory whole. None when it was tombstoned, or
 *  never was. */
export async function* eventsOf<E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): AsyncGenerator<Recorded<E>> {
  const reading = client.readStream(stream, { fromRevision: 'start', direction: 'forwards' });
  try {
    for await (const resolved of reading) yield parseRecorded(schema, resolved);
  } catch (error) {
    if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
    throw asOutage(error);
  } finally {
    // Whoever has enough leaves early: the server would go on sending.
    await reading.cancel().catch(() => {});
  }
}

/** The newest event of a stream before that number; null when there is none. */
export const eventBefore = async (
  client: EventStoreDBClient,
  stream: string,
  revision: number,
): Promise<ResolvedEvent | 'deleted' | null> => {
  const reading = client.readStream(stream, {
    fromRevision: BigInt(revision - 1),
    direction: 'backwards',
    maxCount: 1,
  });
  const read = async () => {
    let newest: ResolvedEvent | null = null;
    // To its end: a read that is left early stays open.
    for await (const resolved of reading) newest = resolved;
    return newest;
  };
  try {
    return await endWithin(READ_WITHIN_MS, reading, read());
  } catch (error) {
    if (error instanceof StreamNotFoundError) return null;
    if (error instanceof StreamDeletedError) return 'deleted';
    throw asOutage(error);
  }
};

export type AppendResult = 'appended' | 'conflict' | 'deleted';

/** Appends events after `expectedRevision` (-1: the stream must not be there). An append without an answer is tried again with the same
 *  event ids, which EventStoreDB recognises; when it stays without one, whether it took effect is unknown: `dependency_unavailable`. */
export const append = async (
  client: EventStoreDBClient,
  stream: string,
  events: ReadonlyArray<Pick<Recorded, 'id' | 'event' | 'metadata'>>,
  expectedRevision: number,
): Promise<AppendResult> => {
  const proposed = events.map(({ id, event, metadata }) =>
    jsonEvent({ id: eventUuid(id), type: event.type, data: event.data as Record<string, unknown>, metadata }),
  );
  const options = { expectedRevision: expectedRevision < 0 ? ('no_stream' as const) : BigInt(expectedRevision) };
  for (let attempt = 1; ; attempt += 1) {
    try {
      // The client waits for ever for the answer to a batch append when the server has stopped answering.
      await within(APPEND_WITHIN_MS, client.appendToStream(stream, proposed, options));
      return 'appended';
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return 'conflict';
      if (error instanceof StreamDeletedError) return 'deleted';
      if (attempt >= APPEND_TRIES) throw asOutage(error);
    }
  }
};

/** Makes a stream unreadable for good. A repeat changes nothing. */
export const tombstone = async (client: EventStoreDBClient, stream: string): Promise<void> => {
  try {
    await client.tombstoneStream(stream, { expectedRevision: 'any' });
  } catch (error) {
    if (!(error instanceof StreamDeletedError)) throw asOutage(error);
  }
};

const asOutage = (cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the event store is not available right now: try again', { cause });
