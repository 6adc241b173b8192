import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DomainMessage, Metadata, WebhookEventType, WebhookFilter } from '@cpg/contracts';
import { migrate } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { newId, secretBox, webhookRow } from '@cpg/platform';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';
import { type InstanceOptions, startInstance } from '../instance.ts';
import { createSender } from '../attempts/send.ts';
import { MIGRATIONS } from '../migrations.ts';
import { deliverEvents } from '../ingest/deliver-events.ts';
import { sampleEvent } from '../ingest/samples.ts';
import { DEFAULT_RETENTION } from '../queue/partitions.ts';
import { openPool } from '../queue/queue-table.ts';
import { createDirectory } from '../webhooks/directory.ts';
import { testHistory } from './jest-history.ts';
import { log } from './jest-log.ts';

const GATEWAY = { schema: 'gateway', folder: join(import.meta.dirname, '../../../gateway/migrations') };

const TABLES = [
  'gateway.merchant_events',
  'gateway.webhooks',
  'gateway.merchants',
  ...['queue', 'attempts', 'deliveries', 'events', 'instances', 'failing'].map((table) => `webhooks.${table}`),
];

export const ALL_EVENTS: WebhookEventType[] = [
  'order:created',
  'order:updated',
  'order:paid',
  'payment:applied',
  'payment:failed',
  'payment:refunded',
];

export const box = secretBox(['a key of at least 32 characters for tests']);
export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** A database of its own, on which a test starts any number of dispatcher instances. */
export const dispatchers = async () => {
  const database = await testDatabase();
  const pool = openPool(database.url, { max: 10, log });
  await migrate(pool, GATEWAY);
  await migrate(pool, MIGRATIONS);
  const closing: (() => Promise<unknown>)[] = [];
  const history = testHistory();
  const stopInstances = () => Promise.all(closing.splice(0).map((stop) => stop()));

  const start = async (options: Partial<InstanceOptions> = {}) => {
    const now = options.now ?? (() => new Date());
    // The clock that decides what has ended (ADR 34).
    const endsBy = options.endsBy ?? now;
    const webhooks = createDirectory({ pool, box, now, maxAgeMs: 0 });
    const sender = createSender({ allowLocal: true, connections: ENDPOINT_LIMITS.concurrency.max, now });
    const instance = await startInstance({
      pool,
      sender,
      webhooks,
      // Seconds before the second and the third attempt.
      schedule: [0.02, 0.02],
      retention: DEFAULT_RETENTION,
      random: () => 0.5,
      pollMs: 20,
      history,
      log,
      now,
      endsBy,
      ...options,
    });
    closing.push(async () => {
      // Waits 0 ms for attempts in flight.
      await instance.stop(0);
      await sender.close();
    });
    const { ingest, sawEventsOf } = instance;
    const deliver = deliverEvents({ webhooks, ingest, sawEventsOf, retention: DEFAULT_RETENTION, endsBy, log });
    return { instance, webhooks, consume: deliver };
  };
  return {
    databaseUrl: database.url,
    pool,
    /** The past events of orders and payments. */
    history,
    start,
    /** Creates a webhook: by default of a new merchant, subscribed to all events, and enabled. */
    webhook: async (
      url: string,
      given: Partial<{ merchantId: string; events: string[]; filter: WebhookFilter; isEnabled: boolean }> = {},
    ) => {
      const { merchantId = newId('merchant'), events = ALL_EVENTS, filter = null, isEnabled = true } = given;
      const secret = newSecret();
      const id = newId('webhook');
      await pool.query(
        `insert into gateway.merchants (id, external_reference_id, type, payment_methods, metadata, created_at)
         values ($1, $1, 'business', '[]', '{}', now()) on conflict do nothing`,
        [merchantId],
      );
      await pool.query(
        `insert into gateway.webhooks (id, merchant_id, url, events, filter, is_enabled, secret_box, secret_seed, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, 'seed', now())`,
        [id, merchantId, url, events, filter, isEnabled, box.seal(secret, webhookRow(id))],
      );
      return { id, merchantId, secret };
    },
    /** Repeats the query until it returns a row, and resolves with it. */
    eventually: async <T>(sql: string, values: unknown[] = []): Promise<T> => {
      for (;;) {
        const { rows } = await pool.query(sql, values);
        if (rows[0]) return rows[0] as T;
        await new Promise((done) => setTimeout(done, 10));
      }
    },
    /** Expires the leases of all instances, as if they had crashed. */
    expireLeases: () => pool.query("update webhooks.instances set expires_at = now() - interval '1 ms'"),
    /** Stops all instances and forgets all webhooks and deliveries. */
    empty: async () => {
      await stopInstances();
      for (const table of TABLES) await pool.query(`delete from ${table}`);
    },
    /** How many deadlocks the database had. Ends the instances and the pool: close your own connections before. */
    deadlocks: async (): Promise<number> => {
      await stopInstances();
      await pool.end();
      return database.deadlocks();
    },
    close: async () => {
      await stopInstances();
      if (!pool.ended) await pool.end();
      await database.drop();
    },
  };
};

export type Dispatchers = Awaited<ReturnType<typeof dispatchers>>;

type Message = Pick<DomainMessage, 'type'> & {
  merchantId: string;
  orderId?: string;
  time?: string;
  sequence?: string;
} & {
  /** The metadata of the order, or of the order of the payment. */
  metadata?: Metadata;
};

/** A message as orders or payments publishes it, with the example of an order or payment. */
export const message = ({
  type,
  merchantId,
  orderId = newId('order'),
  time,
  sequence = '0',
  metadata = {},
}: Message): DomainMessage => {
  const at = time ? new Date(time) : new Date();
  const sample = type.startsWith('order.') ? 'order:updated' : 'payment:applied';
  const { data } = JSON.parse(sampleEvent(sample, merchantId, at).body.toString()) as { data: { id: string } };
  const isOrder = type.startsWith('order.');
  return {
    specversion: '1.0',
    id: newId('event'),
    source: 'test',
    type,
    subject: isOrder ? orderId : data.id,
    time: at.toISOString(),
    datacontenttype: 'application/json',
    dataschema: 'test',
    sequence,
    correlationid: 'test',
    causationid: 'test',
    merchantid: merchantId,
    orderid: orderId,
    cpghash: 'test',
    data: {
      change: {},
      resource: type === 'order.deleted' ? null : isOrder ? { ...data, id: orderId, metadata } : data,
      ...(!isOrder && { order: { external_reference_id: 'cart-1', metadata } }),
    },
  } as unknown as DomainMessage;
};
