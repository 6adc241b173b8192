import { withTimeout } from '@cpg/platform';
import {
  type EventStoreDBClient,
  type ResolvedEvent,
  StreamDeletedError,
  type StreamingRead,
  StreamNotFoundError,
} from '@eventstore/db-client';
import type { z } from 'zod';
import { asUnavailable } from './errors.ts';
import { type DomainEvent, parseRecorded, type Recorded } from './recorded.ts';

/** A read fails when no event arrives for this long. There is no limit for a whole read, because streams can be
 *  long. */
const IDLE_TIMEOUT_MS = 5_000;

// A stream is read in pages, so that little is left of a read whose caller stops early.
const FIRST_PAGE_EVENTS = 32;
const PAGE_EVENTS = 512;

interface ReadRange {
  readonly fromRevision?: number;
  readonly maxCount?: number;
}

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
  range: ReadRange = {},
): Promise<boolean> => {
  try {
    for await (const resolved of readEvents(client, stream, range)) handle(parseRecorded(schema, resolved));
    return true;
  } catch (error) {
    if (error instanceof StreamDeletedError) return false;
    throw error;
  }
};

/** Yields the events of a stream from a revision on; the caller may stop early. Yields nothing when the stream was
 *  tombstoned or does not exist. */
export async function* eventsOf<E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
  fromRevision = 0,
): AsyncGenerator<Recorded<E>> {
  for await (const resolved of rawEventsOf(client, stream, fromRevision)) yield parseRecorded(schema, resolved);
}

/** Yields the events of a stream from a revision on, as the client returns them. Yields nothing when the stream was
 *  tombstoned or does not exist. */
export async function* rawEventsOf(
  client: EventStoreDBClient,
  stream: string,
  fromRevision = 0,
): AsyncGenerator<ResolvedEvent> {
  try {
    yield* readEvents(client, stream, { fromRevision });
  } catch (error) {
    if (!(error instanceof StreamDeletedError)) throw error;
  }
}

/** Throws StreamDeletedError for a tombstoned stream, and `dependency_unavailable` for every other failure of the
 *  client. What the caller does with an event is its own: its errors are not those of the event store. */
async function* readEvents(
  client: EventStoreDBClient,
  stream: string,
  { fromRevision = 0, maxCount = Infinity }: ReadRange,
): AsyncGenerator<ResolvedEvent> {
  let [next, left, page] = [BigInt(fromRevision), maxCount, FIRST_PAGE_EVENTS];
  for (;;) {
    const wanted = Math.min(page, left);
    let count = 0;
    for await (const resolved of readPage(client, stream, next, wanted)) {
      yield resolved;
      count += 1;
      if (resolved.event) next = resolved.event.revision + 1n;
    }
    left -= count;
    if (count < wanted || left === 0) return;
    page = PAGE_EVENTS;
  }
}

async function* readPage(
  client: EventStoreDBClient,
  stream: string,
  fromRevision: bigint,
  maxCount: number,
): AsyncGenerator<ResolvedEvent> {
  const reading = client.readStream(stream, { fromRevision, direction: 'forwards', maxCount });
  // The client ignores its own deadline option for reads. The timer stops while the caller handles an event.
  const startTimer = () =>
    setTimeout(() => void reading.destroy(new Error(`no event arrived for ${IDLE_TIMEOUT_MS} ms`)), IDLE_TIMEOUT_MS);
  let timer = startTimer();
  try {
    for await (const resolved of reading.iterator({ destroyOnReturn: false })) {
      clearTimeout(timer);
      yield resolved as ResolvedEvent;
      timer = startTimer();
    }
  } catch (error) {
    if (error instanceof StreamNotFoundError) return;
    throw error instanceof StreamDeletedError ? error : asUnavailable(error);
  } finally {
    clearTimeout(timer);
    if (!reading.readableEnded && !reading.destroyed) discard(reading, startTimer());
  }
}

/** Reads what is left: HTTP/2 servers disconnect clients that cancel many calls (CVE-2023-44487). */
const discard = (reading: StreamingRead<ResolvedEvent>, timer: NodeJS.Timeout): void => {
  reading
    .on('error', () => {})
    .once('close', () => clearTimeout(timer))
    .resume();
};

/** The first event of a stream: `deleted` when the stream was tombstoned, null when it does not exist. */
export const firstEvent = async <E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): Promise<Recorded<E> | 'deleted' | null> => {
  let first: Recorded<E> | null = null;
  const exists = await eachEvent(client, stream, schema, (recorded) => void (first = recorded), { maxCount: 1 });
  return exists ? first : 'deleted';
};

/** The newest event of a stream; null when the stream was tombstoned or does not exist. */
export const lastEvent = async <E extends DomainEvent>(
  client: EventStoreDBClient,
  stream: string,
  schema: z.ZodType<E>,
): Promise<Recorded<E> | null> => {
  const newest = await readBackwards(client, stream, 'end');
  return newest === null || newest === 'deleted' ? null : parseRecorded(schema, newest);
};

/** The newest event of a stream before `revision`; null when there is none. */
export const eventBefore = (
  client: EventStoreDBClient,
  stream: string,
  revision: number,
): Promise<ResolvedEvent | 'deleted' | null> => readBackwards(client, stream, BigInt(revision - 1));

/** Whether a stream was tombstoned. */
export const isDeletedStream = async (client: EventStoreDBClient, stream: string): Promise<boolean> =>
  (await readBackwards(client, stream, 'end')) === 'deleted';

const readBackwards = async (
  client: EventStoreDBClient,
  stream: string,
  fromRevision: bigint | 'end',
): Promise<ResolvedEvent | 'deleted' | null> => {
  const reading = client.readStream(stream, { fromRevision, direction: 'backwards', maxCount: 1 });
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

/** Resolves to the result of `work` on a read, or rejects after `ms` milliseconds: the client ignores its own deadline
 *  option for reads. Closes the read when it rejects. */
export const withReadTimeout = async <T>(ms: number, reading: StreamingRead<unknown>, work: Promise<T>): Promise<T> => {
  try {
    return await withTimeout(ms, work);
  } catch (error) {
    reading.destroy();
    throw error;
  }
};
