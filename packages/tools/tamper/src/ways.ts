import { randomBytes } from 'node:crypto';
import { TRANSPARENCY_LOG_STREAM } from '@cpg/contracts';
import {
  appendLeaves,
  checkpointText,
  leafHash,
  newSigningKey,
  noteSigner,
  type ReadTile,
  rootOf,
  subtreesIn,
} from '@cpg/transparency-log';
import type { ClientBase } from 'pg';
import { type EventRow, readStream, rehashed, rowLike, writeStream, writeTombstone } from './event-rows.ts';
import type { Target } from './target.ts';

/** Connections with all rights. */
interface Databases {
  /** Of the event store. */
  readonly events: ClientBase;
  /** Of the services. */
  readonly services: ClientBase;
}

export interface Way {
  readonly name: string;
  /** What it does, as a sentence. */
  readonly does: string;
  readonly run: (databases: Databases, target: Target) => Promise<void>;
}

type Change = (rows: readonly EventRow[]) => readonly EventRow[];

/** Changes a stream, and leaves the hashes as they are. */
const change = async ({ events }: Databases, stream: string, by: Change): Promise<void> =>
  writeStream(events, stream, by(await readStream(events, stream)));

/** Changes a stream, and computes all its hashes again. */
const forge = (databases: Databases, stream: string, by: Change): Promise<void> =>
  change(databases, stream, (rows) => rehashed(stream, by(rows)));

const withoutLast: Change = (rows) => rows.slice(0, -1);

const withFirst =
  (replace: (row: EventRow) => Partial<EventRow>): Change =>
  ([first, ...others]) => [{ ...first!, ...replace(first!) }, ...others];

const withData =
  (replace: (data: EventRow['data']) => unknown): Change =>
  (rows) =>
    rows.map((row) => ({ ...row, data: replace(row.data) as EventRow['data'] }));

/** Makes each amount in a value ten times smaller, in the objects that `isMeant` names and below them. */
const tenth = (value: unknown, isMeant: (object: object) => boolean = () => true): unknown => {
  if (Array.isArray(value)) return value.map((each) => tenth(each, isMeant));
  if (typeof value !== 'object' || value === null) return value;
  const found = isMeant(value);
  const fields = Object.entries(value).map(([name, field]: [string, unknown]) => {
    const isAmount = found && name.endsWith('Minor') && typeof field === 'string';
    return [name, isAmount ? String(BigInt(field) / 10n) : tenth(field, found ? undefined : isMeant)];
  });
  return Object.fromEntries(fields);
};

const idIn = (stream: string): string => stream.slice(stream.indexOf('-') + 1);

const forgeSmallerPayment = async (databases: Databases, { payment, order }: Target): Promise<void> => {
  const ofPayment = (object: object) => 'paymentId' in object && object.paymentId === idIn(payment);
  await forge(
    databases,
    payment,
    withData((data) => tenth(data)),
  );
  await forge(
    databases,
    order,
    withData((data) => tenth(data, ofPayment)),
  );
};

const refundLike = (row: EventRow): EventRow =>
  rowLike(row, 'PaymentRefunded', {
    refundId: 'rfd_01KG9Q4B5C6D7E8F9G0H1J2K3M',
    amountMinor: '1000000',
    refundedTotalMinor: '1000000',
    reason: 'returned',
  });

const deleteStreams = async ({ events }: Databases, { order, payments }: Target): Promise<void> => {
  for (const stream of [order, ...payments]) await writeTombstone(events, stream);
};

/** Its hash of the last event is random: nobody can compare it once the stream is gone. */
const writeDeletionRecord = async ({ events }: Databases, { order, orderId, payments }: Target): Promise<void> => {
  const rows = await readStream(events, order);
  const { merchantId } = rows[0]!.data;
  const { actor } = rows.at(-1)!.metadata;
  const record = rowLike(rows.at(-1)!, 'OrderDeletionRecorded', {
    orderId,
    merchantId,
    actor,
    lastHash: randomBytes(32).toString('hex'),
    sequence: rows.length,
    payables: [],
    paymentIds: payments.map(idIn),
  });
  const stream = `deletion-${orderId}`;
  await writeStream(events, stream, rehashed(stream, [record]));
};

/** Rows of the log over other hashes: `hashes` has them by place. Another key signs each checkpoint that changes. */
const rewrittenLog = async (rows: readonly EventRow[], hashes: ReadonlyMap<string, string>): Promise<EventRow[]> => {
  const tiles = new Map<string, Buffer>();
  const read: ReadTile = (level, index) => Promise.resolve(tiles.get(`${level}/${index}`) ?? Buffer.alloc(0));
  const origin = String(rows[0]!.data.checkpoint).split('\n')[0]!;
  const signer = noteSigner(newSigningKey(origin));
  const rewritten: EventRow[] = [];
  let size = 0;
  let isForged = false;
  for (const row of rows) {
    const entries = (row.data.entries as string[]).map((entry) => {
      const [place = '', hash] = entry.split(' ');
      return `${place} ${hashes.get(place) ?? hash}`;
    });
    const leaves = entries.map((entry) => leafHash(Buffer.from(entry)));
    for (const tile of await appendLeaves(read, size, leaves)) tiles.set(`${tile.level}/${tile.index}`, tile.hashes);
    size += entries.length;
    const root = await rootOf(subtreesIn(read), size);
    isForged ||= entries.join() !== String(row.data.entries);
    const checkpoint = isForged ? signer.sign(checkpointText({ origin, size, root })) : row.data.checkpoint;
    rewritten.push({ ...row, data: { ...row.data, entries, checkpoint } });
  }
  return rewritten;
};

const rewriteLog = async (databases: Databases, { payment }: Target): Promise<void> => {
  await forge(
    databases,
    payment,
    withData((data) => tenth(data)),
  );
  const rows = await readStream(databases.events, payment);
  const hashes = new Map(rows.map(({ metadata }, revision) => [`${revision}@${payment}`, metadata.hash]));
  const log = await rewrittenLog(await readStream(databases.events, TRANSPARENCY_LOG_STREAM), hashes);
  await writeStream(databases.events, TRANSPARENCY_LOG_STREAM, rehashed(TRANSPARENCY_LOG_STREAM, log));
};

const cutLog = ({ events }: Databases, { payment }: Target) =>
  events.query(
    `delete from eventstore.event
      where position >= (select max(position) from eventstore.event where stream = $1)`,
    [payment],
  );

const moveLastEvent = async (databases: Databases, { payment, otherPayment }: Target): Promise<void> => {
  if (otherPayment === null) throw new Error('only one order has an applied payment: pay another one');
  const moved = (await readStream(databases.events, payment)).at(-1)!;
  await change(databases, payment, withoutLast);
  await forge(databases, otherPayment, (rows) => [...rows, moved]);
};

const changeWebhookBody = async ({ services }: Databases, { orderId }: Target): Promise<void> => {
  const { rowCount } = await services.query(
    `update webhooks.events set body = regexp_replace(body, '("total_amount":")', '\\19')
      where id = (select max(id) from webhooks.events where order_id = $1 and type = 'order:paid')`,
    [orderId],
  );
  if (rowCount === 0) throw new Error(`no webhook was told that ${orderId} is paid`);
};

export const WAYS: readonly Way[] = [
  {
    name: 'smaller-payment',
    does: 'Makes the amount of a payment ten times smaller.',
    run: (databases, { payment }) =>
      change(
        databases,
        payment,
        withFirst(({ data }) => ({ data: tenth(data) as EventRow['data'] })),
      ),
  },
  {
    name: 'smaller-payment-rehashed',
    does: 'Makes a payment ten times smaller, in its own stream and in its order, and computes all hashes again.',
    run: forgeSmallerPayment,
  },
  {
    name: 'cut-order',
    does: 'Removes the last event of an order.',
    run: (databases, { order }) => change(databases, order, withoutLast),
  },
  {
    name: 'cut-payment',
    does: 'Removes the last event of a payment.',
    run: (databases, { payment }) => change(databases, payment, withoutLast),
  },
  {
    name: 'removed-stream',
    does: 'Removes the whole stream of a payment.',
    run: ({ events }, { payment }) => writeStream(events, payment, []),
  },
  {
    name: 'tombstones',
    does: 'Puts tombstones in the place of an order and its payments, without a deletion record.',
    run: deleteStreams,
  },
  {
    name: 'tombstones-with-record',
    does: 'Puts tombstones in the place of an order and its payments, and forges the deletion record.',
    run: async (databases, target) => {
      await writeDeletionRecord(databases, target);
      await deleteStreams(databases, target);
    },
  },
  {
    name: 'removed-deletion-record',
    does: 'Removes a deletion record.',
    run: async ({ events }) => {
      const { rows } = await events.query<{ stream: string }>(
        `select stream from eventstore.event where left(stream, 9) = 'deletion-' order by position limit 1`,
      );
      if (!rows[0]) throw new Error('no order was deleted');
      await writeStream(events, rows[0].stream, []);
    },
  },
  {
    name: 'forged-refund',
    does: 'Puts a refund with a right hash into the middle of a payment, and computes the later hashes again.',
    run: (databases, { payment }) =>
      forge(databases, payment, (rows) => [...rows.slice(0, -1), refundLike(rows.at(-1)!), ...rows.slice(-1)]),
  },
  {
    name: 'cut-log',
    does: 'Removes the last event of a payment and every later event of all streams, checkpoints included.',
    run: async (databases, target) => void (await cutLog(databases, target)),
  },
  {
    name: 'other-actor',
    does: 'Names another actor in the first event of an order.',
    run: (databases, { order }) =>
      change(
        databases,
        order,
        withFirst(({ metadata }) => ({ metadata: { ...metadata, actor: 'user:somebody' } })),
      ),
  },
  {
    name: 'other-request',
    does: 'Names another request in the first event of an order.',
    run: (databases, { order }) =>
      change(
        databases,
        order,
        withFirst(({ metadata }) => ({ metadata: { ...metadata, requestId: 'req_other' } })),
      ),
  },
  {
    name: 'other-recorded-time',
    does: 'Sets the time at which the event store recorded the first event of a payment an hour back.',
    run: (databases, { payment }) =>
      change(
        databases,
        payment,
        withFirst(({ created }) => ({ created: String(BigInt(created) - HOUR) })),
      ),
  },
  {
    name: 'swapped-events',
    does: 'Swaps the last two events of an order, and computes the hashes again.',
    run: (databases, { order }) =>
      forge(databases, order, (rows) => [...rows.slice(0, -2), rows.at(-1)!, rows.at(-2)!]),
  },
  {
    name: 'moved-event',
    does: 'Moves the last event of a payment to the payment of another order, with a right hash.',
    run: moveLastEvent,
  },
  {
    name: 'inserted-event',
    does: 'Puts an event between the first two of an order, without computing the later hashes.',
    run: (databases, { order }) =>
      change(databases, order, ([first, ...others]) => {
        const inserted = rowLike(first!, 'OrderUpdated', {});
        return [...rehashed(order, [first!, inserted]), ...others];
      }),
  },
  {
    name: 'changed-settings',
    does: 'Names another actor in the first event of the settings of a merchant, and computes the hashes again.',
    run: (databases, { settings }) =>
      forge(
        databases,
        settings,
        withFirst(({ metadata }) => ({ metadata: { ...metadata, actor: 'user:somebody' } })),
      ),
  },
  {
    name: 'rewritten-log',
    does: 'Makes a payment ten times smaller, and rewrites the log for it, with checkpoints that another key signs.',
    run: rewriteLog,
  },
  {
    name: 'removed-checkpoints',
    does: 'Removes all checkpoints after the kept one.',
    run: (databases, { keptSize }) =>
      change(databases, TRANSPARENCY_LOG_STREAM, (rows) => rows.filter(({ data }) => Number(data.size) <= keptSize)),
  },
  {
    name: 'changed-webhook-body',
    does: 'Changes the total in the stored body of an order:paid webhook, which a redelivery sends.',
    run: changeWebhookBody,
  },
];

/** In units of 100 ns. */
const HOUR = 36_000_000_000n;
