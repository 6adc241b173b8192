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

/** A read fails when no event arrives for this long. There is no limit for a whole read, because streams can be long. */
const IDLE_TIMEOUT_MS = 5_000;
const APPEND_TIMEOUT_MS = 4_000;
const APPEND_ATTEMPTS = 2;

/** Reads a whole stream. Null when it was tombstoned; empty when it does not exist. */
export const readStream = async <E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): Promise<Recorded<E>[] | null> => {
  const recorded: Recorded<E>[] = [];
  const exists = await eachEvent(client, stream, schema, (event) => void recorded.push(event));
  return exists ? recorded : null;
};

/** Calls `handle` with each event of a stream as it arrives, so that a long stream is never in memory as a whole.
 *  Resolves to false when the stream was tombstoned. A stream that does not exist has no events. */
export const eachEvent = async <E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
  handle: (recorded: Recorded<E>) => void,
  maxCount?: number,
): Promise<boolean> => {
  try {
    for await (const recorded of readEvents(client, stream, schema, maxCount)) handle(recorded);
    return true;
  } catch (error) {
    if (error instanceof StreamNotFoundError) return true;
    if (error instanceof StreamDeletedError) return false;
    throw asUnavailable(error);
  }
};

/** Yields the events of a stream; the caller may stop early. Yields nothing when the stream was tombstoned or does not
 *  exist. */
export async function* eventsOf<E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): AsyncGenerator<Recorded<E>> {
  try {
    yield* readEvents(client, stream, schema);
  } catch (error) {
    if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return;
    throw asUnavailable(error);
  }
}

async function* readEvents<E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
  maxCount?: number,
): AsyncGenerator<Recorded<E>> {
  const reading = client.readStream(stream, {
    fromRevision: 'start',
    direction: 'forwards',
    ...(maxCount !== undefined && { maxCount }),
  });
  // The client ignores its own deadline option for reads. The timer stops while the caller handles an event.
  const startTimer = () =>
    setTimeout(() => void reading.destroy(new Error(`no event arrived for ${IDLE_TIMEOUT_MS} ms`)), IDLE_TIMEOUT_MS);
  let timer = startTimer();
  try {
    for await (const resolved of reading) {
      clearTimeout(timer);
      yield parseRecorded(schema, resolved);
      timer = startTimer();
    }
  } finally {
    clearTimeout(timer);
    // Without it the server keeps sending after the caller stops early.
    void reading.cancel().catch(() => {});
  }
}

/** The newest event of a stream before `revision`; null when there is none. */
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
    // Read to the end: a read that stops early stays open.
    for await (const resolved of reading) newest = resolved;
    return newest;
  };
  try {
    return await withReadTimeout(IDLE_TIMEOUT_MS, reading, read());
  } catch (error) {
    if (error instanceof StreamNotFoundError) return null;
    if (error instanceof StreamDeletedError) return 'deleted';
    throw asUnavailable(error);
  }
};

export type AppendResult = 'appended' | 'conflict' | 'deleted';

/** Appends events after `expectedRevision` (-1: the stream must not exist). An append without an answer is retried with
 *  the same event ids, which EventStoreDB recognizes. Throws `dependency_unavailable` when there is still no answer:
 *  the events may or may not be recorded. */
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
      // The client has no timeout for batch appends.
      await withTimeout(APPEND_TIMEOUT_MS, client.appendToStream(stream, proposed, options));
      return 'appended';
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return 'conflict';
      if (error instanceof StreamDeletedError) return 'deleted';
      if (attempt >= APPEND_ATTEMPTS) throw asUnavailable(error);
    }
  }
};

/** Tombstones a stream: it can never be read again. Idempotent. */
export const tombstone = async (client: EventStoreDBClient, stream: string): Promise<void> => {
  try {
    await client.tombstoneStream(stream, { expectedRevision: 'any' });
  } catch (error) {
    if (!(error instanceof StreamDeletedError)) throw asUnavailable(error);
  }
};

const asUnavailable = (cause: unknown): AppError =>
  new AppError('dependency_unavailable', 'the event store is unavailable: try again', { cause });
