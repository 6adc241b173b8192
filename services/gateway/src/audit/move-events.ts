import { MERCHANT_STREAM_PREFIX, MerchantEvent } from '@cpg/contracts';
import { append, endOf, lastEvent, linkEvent, type Recorded, type StreamEnd } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';

interface Stores {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
}

const MAX_EVENTS = 100;
const MAX_MERCHANTS = 100;

/** The merchants with events that wait to be appended, those that wait longest first. */
export const waitingMerchants = async (db: Queryable): Promise<string[]> => {
  const { rows } = await db.query<{ merchant_id: string }>(
    `select merchant_id from gateway.merchant_events where revision is null
      group by merchant_id order by min(created_at) limit ${MAX_MERCHANTS}`,
  );
  return rows.map(({ merchant_id }) => merchant_id);
};

/** When the oldest event that waits was recorded; null without one. */
export const oldestWaiting = async (db: Queryable): Promise<Date | null> => {
  const { rows } = await db.query<{ oldest: Date | null }>(
    'select min(created_at) as oldest from gateway.merchant_events where revision is null',
  );
  return rows[0]!.oldest;
};

/** Appends the events of a merchant that its stream does not have yet, and marks them. The end of the stream decides,
 *  not the marks: a process may die between the two, several may do this at once, and a store that was restored from a
 *  backup gets the events that it lost. Throws if the stream is not that of the rows. */
export const moveEvents = async ({ client, db }: Stores, merchantId: string): Promise<void> => {
  const stream = `${MERCHANT_STREAM_PREFIX}${merchantId}`;
  for (;;) {
    const last = await lastEvent(client, stream, MerchantEvent);
    if (last) await requireSameEvent(db, merchantId, last);
    const end = endOf(stream, last);
    const rows = await rowsAfter(db, merchantId, end.revision);
    if (rows.length === 0) return markUpTo(db, merchantId, end.revision);
    const events = linked(stream, end, rows);
    const result = await append(client, stream, events, end.revision);
    if (result === 'deleted')
      throw new Error(`the stream ${stream} was deleted: restore the event store from a backup`);
    // After a conflict, another process has appended: the stream has a new end.
    if (result === 'appended') await markUpTo(db, merchantId, events.at(-1)!.revision);
  }
};

interface EventRow {
  readonly id: string;
  readonly type: MerchantEvent['type'];
  readonly actor: string;
  readonly request_id: string | null;
  readonly data: MerchantEvent['data'];
}

const rowsAfter = async (db: Queryable, merchantId: string, sequence: number): Promise<EventRow[]> => {
  const { rows } = await db.query<EventRow>(
    `select id, type, actor, request_id, data from gateway.merchant_events
      where merchant_id = $1 and sequence > $2 order by sequence limit ${MAX_EVENTS}`,
    [merchantId, sequence],
  );
  return rows;
};

const requireSameEvent = async (db: Queryable, merchantId: string, last: Recorded): Promise<void> => {
  const { rowCount } = await db.query(
    'select from gateway.merchant_events where merchant_id = $1 and sequence = $2 and id = $3',
    [merchantId, last.revision, last.id],
  );
  if (rowCount !== 1)
    throw new Error(
      `event ${last.revision} of the stream ${last.stream} is ${last.id}, which the database does not have there: the two do not belong together`,
    );
};

/** Chains the events to the end of the stream. The actor and the request of each are those of its row. */
const linked = (stream: string, end: StreamEnd, rows: readonly EventRow[]) => {
  let previous = end;
  return rows.map(({ id, type, actor, request_id, data }) => {
    const requestId = request_id ?? id;
    const context = { actor, requestId, correlationId: requestId };
    const recorded = linkEvent({ id, event: { type, data } }, stream, previous, context, requestId);
    previous = endOf(stream, recorded);
    return recorded;
  });
};

const markUpTo = async (db: Queryable, merchantId: string, revision: number): Promise<void> => {
  await db.query(
    `update gateway.merchant_events set revision = sequence
      where merchant_id = $1 and sequence <= $2 and revision is null`,
    [merchantId, revision],
  );
};
