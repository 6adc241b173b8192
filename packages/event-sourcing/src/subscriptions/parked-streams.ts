import { isTemporary } from '@cpg/contracts';
import { type Logger, retry } from '@cpg/platform';
import { isTransientDatabaseError, type Pool, type Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { UnreadableEventError } from '../store/errors.ts';
import { isTombstone, type LogPosition, positionOf } from '../store/recorded.ts';
import { rawEventsOf } from '../store/stream.ts';
import { FencedError } from './checkpoint.ts';

interface ParkedStreamsOptions {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  readonly schema: string;
  /** Name of the subscription. All its shards use the same rows, so these stay valid when the number of shards
   *  changes. */
  readonly name: string;
  /** Whether an event belongs to this shard. By default, every event does. */
  readonly isOwn?: (event: AllStreamResolvedEvent) => Promise<boolean>;
  readonly log: Logger;
}

/** The dead letters of a subscription. A stream is parked at the first event that the subscription cannot handle: the
 *  later events of that stream wait, so their order stays, and other streams go on. The row keeps the revision from
 *  which the stream is handled again once a fixed version runs. */
interface ParkedStreams {
  /** Reads which streams are parked, those of other shards too. Call it before the first event, and after other shards
   *  may have changed them. */
  readonly load: () => Promise<void>;
  readonly has: (stream: string) => boolean;
  /** Durable when it resolves. */
  readonly park: (event: AllStreamResolvedEvent, error: unknown) => Promise<void>;
  /** Handles parked streams again from their parked event on, one event at a time. Throws during an outage. */
  readonly retry: (handle: (event: AllStreamResolvedEvent) => Promise<void>) => Promise<void>;
  readonly isRetryDue: () => boolean;
}

const RETRY_EVERY_MS = 5 * 60_000;
/** Bounds the time that other streams wait for a retry. The streams that were tried longest ago come first. */
const RETRIED_AT_ONCE = 100;

export const parkedStreams = ({
  client,
  pool,
  schema,
  name,
  isOwn = async () => true,
  log,
}: ParkedStreamsOptions): ParkedStreams => {
  const table = `${schema}.parked_streams`;
  const parked = new Set<string>();
  let retriedAt = -Infinity;

  const save = async (event: AllStreamResolvedEvent['event'] & object, error: unknown) => {
    const { streamId: stream, revision, id, type } = event;
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    await pool.query(
      `insert into ${table} (subscription, stream, revision, event_id, event_type, reason) values ($1, $2, $3, $4, $5, $6)
       on conflict (subscription, stream) do update
         set revision = excluded.revision, event_id = excluded.event_id, event_type = excluded.event_type,
             reason = excluded.reason, tried_at = now()`,
      [name, stream, String(revision), id, type, reason.replaceAll('\0', '')],
    );
  };

  /** Resolves to false when an event still cannot be handled, or belongs to another shard. */
  const retryStream = async (
    stream: string,
    fromRevision: number,
    handle: (event: AllStreamResolvedEvent) => Promise<void>,
  ): Promise<boolean> => {
    for await (const resolved of rawEventsOf(client, stream, fromRevision)) {
      const event = resolved as AllStreamResolvedEvent;
      if (!(await isOwn(event))) return false;
      try {
        await handle(event);
      } catch (error) {
        if (isOutage(error)) throw error;
        await save(event.event!, error);
        return false;
      }
    }
    return true;
  };

  return {
    load: async () => {
      const { rows } = await pool.query<{ stream: string }>(`select stream from ${table} where subscription = $1`, [
        name,
      ]);
      parked.clear();
      for (const { stream } of rows) parked.add(stream);
    },
    has: (stream) => parked.has(stream),
    park: async ({ event }, error) => {
      const { streamId: stream, revision, type } = event!;
      await save(event!, error);
      parked.add(stream);
      log.error(
        { err: error, subscription: name, stream, revision: Number(revision), type },
        'event cannot be handled: its stream is parked',
      );
    },
    isRetryDue: () => parked.size > 0 && performance.now() - retriedAt >= RETRY_EVERY_MS,
    retry: async (handle) => {
      retriedAt = performance.now();
      const { rows } = await pool.query<{ stream: string; revision: string }>(
        `select stream, revision from ${table} where subscription = $1 order by tried_at limit ${RETRIED_AT_ONCE}`,
        [name],
      );
      for (const { stream, revision } of rows) {
        if (!(await retryStream(stream, Number(revision), handle))) continue;
        await pool.query(`delete from ${table} where subscription = $1 and stream = $2`, [name, stream]);
        parked.delete(stream);
        log.info({ subscription: name, stream, revision: Number(revision) }, 'parked stream was handled');
      }
      if (parked.size > 0) log.warn({ subscription: name, parked: parked.size }, 'streams are still parked');
    },
  };
};

interface ParkedStream {
  readonly subscription: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly reason: string;
  readonly parkedAt: string;
}

/** The parked streams of a service, oldest first. */
export const listParkedStreams = async (db: Queryable, schema: string): Promise<ParkedStream[]> => {
  const { rows } = await db.query<Omit<ParkedStream, 'parkedAt'> & { parked_at: Date }>(
    `select subscription, stream, revision::int, event_type as type, reason, parked_at
     from ${schema}.parked_streams order by parked_at, stream`,
  );
  return rows.map(({ parked_at, ...row }) => ({ ...row, parkedAt: parked_at.toISOString() }));
};

/** Handles events, after which the checkpoint may move to `position`. */
type Handle = (events: AllStreamResolvedEvent[], position: LogPosition) => Promise<void>;

const MAX_ATTEMPTS = 5;

/** Handles batches so that an event which cannot be handled stops only its own stream: after a fault, each event is
 *  handled alone, and the stream of one that fails again is parked. An outage is thrown: nothing is parked for it. */
export const isolateFaults =
  (handle: Handle, parked: ParkedStreams, signal: AbortSignal): Handle =>
  async (events, position) => {
    // A tombstone needs no earlier event, so it is handled also if its stream is parked.
    const isReady = (entry: AllStreamResolvedEvent) => isTombstone(entry) || !parked.has(entry.event!.streamId);
    const ready = events.filter(isReady);
    try {
      return await withAttempts(() => handle(ready, position), signal);
    } catch (error) {
      if (isOutage(error) || signal.aborted) throw error;
    }
    for (const entry of ready) {
      // An earlier event of the batch may have parked its stream.
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
    onError: (error, attempt) => {
      const isPermanent = error instanceof UnreadableEventError || error instanceof RefusedMessageError;
      if (isPermanent || isOutage(error) || attempt >= MAX_ATTEMPTS) throw error;
    },
  });

/** Whether a dependency is unavailable, or another process leads by now: the same event may be handled later. Every
 *  other error is one of the event or of our code. */
const isOutage = (error: unknown): boolean =>
  error instanceof FencedError || isTemporary(error) || isTransientDatabaseError(error) || isKafkaError(error);

/** Kafka does not take the message of an event, however often it is sent. */
export class RefusedMessageError extends Error {
  override readonly name = 'RefusedMessageError';
}

const isKafkaError = (error: unknown): boolean => error instanceof Error && error.name.startsWith('KafkaJS');
