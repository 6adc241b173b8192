import { AppError } from '@cpg/core';
import { withTimeout } from '@cpg/runtime';
import {
  type EventStoreDBClient,
  jsonEvent,
  type ResolvedEvent,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { z } from 'zod';
import { withReadTimeout } from './read-timeout.ts';
import { type DomainEvent, eventUuid, parseRecorded, type Recorded } from './recorded.ts';

/** A read of which nothing has come for so long has failed. A limit for all of it would be one that a long stream never
 *  meets. */
const SILENT_FOR_MS = 5_000;
const APPEND_WITHIN_MS = 4_000;
const APPEND_TRIES = 2;

/** Reads a stream from its first event. Null when it was tombstoned; empty when it never was. */
export const readStream = async <E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): Promise<Recorded<E>[] | null> => {
  const recorded: Recorded<E>[] = [];
  const there = await eachEvent(client, stream, schema, (event) => void recorded.push(event));
  return there ? recorded : null;
};

/** Hands over the events of a stream as they come, from its first, so that a long one is never in memory whole. False
 *  when it was tombstoned; nothing comes of one that never was. */
export const eachEvent = async <E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
  take: (recorded: Recorded<E>) => void,
  atMost?: number,
): Promise<boolean> => {
  try {
    for await (const recorded of arriving(client, stream, schema, atMost)) take(recorded);
    return true;
  } catch (error) {
    if (error instanceof StreamNotFoundError) return true;
    if (error instanceof StreamDeletedError) return false;
    throw asOutage(error);
  }
};

/** The events of a stream one at a time, for whoever may have enough before its end. None when it was tombstoned, or
 *  never was. */
export async function* eventsOf<E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): AsyncGenerator<Recorded<E>> {
  try {
    yield* arriving(client, stream, schema);
  } catch (error) {
    if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
    throw asOutage(error);
  }
}

async function* arriving<E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
  atMost?: number,
): AsyncGenerator<Recorded<E>> {
  const reading = client.readStream(stream, {
    fromRevision: 'start',
    direction: 'forwards',
    ...(atMost !== undefined && { maxCount: atMost }),
  });
  // The client sets no end to reads, whatever it is told. Whoever takes their time over an event is not to blame the
  // store for it.
  const listen = () =>
    setTimeout(() => void reading.destroy(new Error(`nothing came for ${SILENT_FOR_MS} ms`)), SILENT_FOR_MS);
  let silence = listen();
  try {
    for await (const resolved of reading) {
      clearTimeout(silence);
      yield parseRecorded(schema, resolved);
      silence = listen();
    }
  } finally {
    clearTimeout(silence);
    // Whoever has enough leaves early: the server would go on sending. One that is silent does not even hear of it.
    void reading.cancel().catch(() => {});
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
    return await withReadTimeout(SILENT_FOR_MS, reading, read());
  } catch (error) {
    if (error instanceof StreamNotFoundError) return null;
    if (error instanceof StreamDeletedError) return 'deleted';
    throw asOutage(error);
  }
};

export type AppendResult = 'appended' | 'conflict' | 'deleted';

/** Appends events after `expectedRevision` (-1: the stream must not be there). An append without an answer is tried
 *  again with the same event ids, which EventStoreDB recognises; when it stays without one, whether it took effect is
 *  unknown: `dependency_unavailable`. */
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
      await withTimeout(APPEND_WITHIN_MS, client.appendToStream(stream, proposed, options));
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
