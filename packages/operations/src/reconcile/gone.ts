import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DomainMessage } from '@cpg/contracts';
import { type Projection, tablesOf } from '@cpg/event-sourcing';
import { readTopic } from '@cpg/platform/kafka';
import { isReadable, type Queryable } from '@cpg/platform/postgres';
import type { Kafka } from 'kafkajs';
import type { ShadowTables } from '../read-models/shadow-tables.ts';
import type { StoreEvents } from './store-events.ts';

export const DELIVERIES = 'webhooks.deliveries';
const BATCH = 1_000;
const ATTEMPTS = 3;

/** Adds the rows that the events do not result in: their events, or their last ones, are gone. Resolves to the number
 *  of rows that are missing or older than their events. `shadow` has the rows of all events. */
export const findGoneRows = async (
  shadow: ShadowTables,
  projection: Projection,
  signal: AbortSignal,
  gone: GoneList,
): Promise<number> => {
  let position = shadow.built;
  let behind = 0;
  for (const [index, live] of tablesOf(projection).entries()) {
    const rebuilt = `${shadow.schema}.${projection.tables[index]}`;
    const revision = (row: string) => `coalesce((to_jsonb(${row})->>'revision')::bigint, 0)`;
    const compare = (side: string, where: string, ids: string[] | null) =>
      shadow.session.query<{ id: string; content: unknown }>(
        `select id, to_jsonb(${side}) as content from ${live} as live full join ${rebuilt} as rebuilt using (id)
         where ($1::text[] is null or id = any($1)) and (${where}) order by id`,
        [ids],
      );
    const isGone = `rebuilt.id is null or ${revision('live')} > ${revision('rebuilt')}`;
    // An event may have been recorded since the log was read.
    let { rows } = await compare('live', isGone, null);
    for (let attempt = 1; attempt < ATTEMPTS && rows.length > 0; attempt += 1) {
      position = await shadow.catchUp(position, signal);
      ({ rows } = await compare(
        'live',
        isGone,
        rows.map(({ id }) => id),
      ));
    }
    for (const { id, content } of rows) gone.add({ kind: 'row', where: live, id, content });
    const isBehind = `live.id is null or ${revision('rebuilt')} > ${revision('live')}`;
    behind += (await compare('rebuilt', isBehind, null)).rows.length;
  }
  return behind;
};

interface WebhookEventRow {
  readonly id: string;
  readonly order_id: string;
  readonly body: string;
  readonly content: object;
}

/** Adds the deliveries of events that are gone, each with its event. `objectType` begins the names of their events.
 *  Resolves to false when this user may not read deliveries, or there are none yet. */
export const findGoneDeliveries = async (
  session: Queryable,
  { objectType, prefixes }: { objectType: string; prefixes: readonly string[] },
  store: StoreEvents,
  gone: GoneList,
): Promise<boolean> => {
  if (!(await isReadable(session, 'webhooks', 'events'))) return false;
  for (let after = ''; ;) {
    const { rows } = await session.query<WebhookEventRow>(
      `select id, order_id, body, to_jsonb(stored) as content from webhooks.events as stored
       where id > $1 and type like $2 || ':%' and not is_test order by id limit ${BATCH}`,
      [after, objectType],
    );
    if (rows.length === 0) return true;
    after = rows.at(-1)!.id;
    const events = rows.map((row) => ({
      ...row,
      orderId: row.order_id,
      streams: streamsOf(prefixes, [row.order_id, subjectOf(row.body)]),
    }));
    for (const { id, content } of await store.missing(events)) {
      const deliveries = await session.query<{ id: string; delivery: object }>(
        'select id, to_jsonb(d) as delivery from webhooks.deliveries d where event_id = $1 order by id',
        [id],
      );
      for (const { id: deliveryId, delivery } of deliveries.rows)
        gone.add({ kind: 'delivery', where: DELIVERIES, id: deliveryId, content: { delivery, event: content } });
    }
  }
};

/** Adds the messages of a topic whose events are gone. Resolves to the number of messages on the topic. */
export const findGoneMessages = (
  kafka: Kafka,
  { topic, prefixes }: { topic: string; prefixes: readonly string[] },
  store: StoreEvents,
  gone: GoneList,
): Promise<number> =>
  readTopic(kafka, topic, async (messages, partition) => {
    const events = messages.flatMap(({ offset, value }) => {
      const content = parsed(value);
      if (!content) return [];
      const { id, orderid: orderId, subject } = content;
      return [{ id, orderId, offset, content, streams: streamsOf(prefixes, [subject]) }];
    });
    for (const { id, offset, content } of await store.missing(events))
      gone.add({ kind: 'message', where: topic, id, content: { partition, offset, message: content } });
  });

const streamsOf = (prefixes: readonly string[], subjects: readonly (string | undefined)[]): string[] =>
  [...new Set(subjects.filter((subject) => subject !== undefined))].flatMap((subject) =>
    prefixes.map((prefix) => prefix + subject),
  );

/** The id of the order or payment in a webhook's body. */
const subjectOf = (body: string): string | undefined => (JSON.parse(body) as { data?: { id?: string } }).data?.id;

type Message = Pick<DomainMessage, 'id' | 'subject' | 'orderid'>;

/** Null for a message that is none of ours. */
const parsed = (value: Buffer | null): Message | null => {
  try {
    const message = JSON.parse(value?.toString() ?? '') as Message;
    return [message.id, message.subject, message.orderid].every((text) => typeof text === 'string') ? message : null;
  } catch {
    return null;
  }
};

/** A result that no event of the store explains any more: a row, a delivery with its event, or a Kafka message. */
type Gone = Readonly<{ kind: 'row' | 'delivery' | 'message'; where: string; id: string; content: unknown }>;

export interface GoneList {
  readonly add: (gone: Gone) => void;
  readonly of: (where: string) => { readonly count: number; readonly ids: readonly string[] };
  readonly total: () => number;
  /** Makes the file durable. Resolves to its path; null when nothing is gone. */
  readonly close: () => string | null;
}

const IDS_SHOWN = 10;

/** Writes everything that is gone to a new file in `folder`, one line of JSON each, and counts it. */
export const goneList = (folder: string, name: string, now: Date): GoneList => {
  const path = resolve(join(folder, `store-reconcile-${name}-${now.toISOString().replaceAll(/[-:.]/g, '')}.ndjson`));
  const places = new Map<string, { count: number; ids: string[] }>();
  let file: number | undefined;
  return {
    add: (gone) => {
      // It holds data of orders.
      file ??= openSync(path, 'wx', 0o600);
      writeSync(file, `${JSON.stringify(gone)}\n`);
      const place = places.get(gone.where) ?? { count: 0, ids: [] };
      places.set(gone.where, place);
      place.count += 1;
      if (place.ids.length < IDS_SHOWN) place.ids.push(gone.id);
    },
    of: (where) => places.get(where) ?? { count: 0, ids: [] },
    total: () => [...places.values()].reduce((sum, { count }) => sum + count, 0),
    close: () => {
      if (file === undefined) return null;
      fsyncSync(file);
      closeSync(file);
      file = undefined;
      return path;
    },
  };
};
