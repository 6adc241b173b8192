import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DomainMessage, WebhookEventType } from '@cpg/contracts';
import { migrate, testDatabase } from '@cpg/postgres';
import { newId, secretBox } from '@cpg/runtime';
import { ENDPOINT_LIMITS } from '../delivery/endpoint.ts';
import { type InstanceOptions, startInstance } from '../delivery/instance.ts';
import { createSender } from '../delivery/send.ts';
import { deliverEvents } from '../reactions/events.ts';
import { sampleEvent } from '../samples.ts';
import { DEFAULT_RETENTION } from '../storage/partitions.ts';
import { openPool } from '../storage/pool.ts';
import { createDirectory } from '../webhooks/directory.ts';
import { pastOf } from './jest-history.ts';
import { log } from './jest-log.ts';

const GATEWAY = `
  create schema gateway;
  create table gateway.webhooks (
    id text primary key, merchant_id text not null, url text not null, events text[] not null, is_enabled boolean not null,
    disabled_reason text, secret_box text not null, previous_secret_box text, previous_secret_until timestamptz,
    created_at timestamptz not null default now(), updated_at timestamptz, deleted_at timestamptz)`;

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

/** Dispatchers on a database of their own, as many as a test starts. */
export const dispatchers = async () => {
  const database = await testDatabase();
  const pool = openPool(database.url, { max: 10, log });
  await pool.query(GATEWAY);
  await migrate(pool, { schema: 'webhooks', folder: join(import.meta.dirname, '../../migrations') });
  const closing: (() => Promise<unknown>)[] = [];
  const past = pastOf();

  const start = async (options: Partial<InstanceOptions> = {}) => {
    const now = options.now ?? (() => new Date());
    const webhooks = createDirectory({ pool, box, now, freshMs: 0 });
    const sender = createSender({ allowLocal: true, connections: ENDPOINT_LIMITS.maxSlots, now });
    const instance = await startInstance({
      pool,
      sender,
      webhooks,
      schedule: [0.02, 0.02],
      retention: DEFAULT_RETENTION,
      random: () => 0.5,
      lookEveryMs: 20,
      history: past,
      log,
      now,
      ...options,
    });
    closing.push(async () => {
      await instance.stop(0);
      await sender.close();
    });
    const consume = deliverEvents({ webhooks, takeIn: instance.takeIn, retention: DEFAULT_RETENTION, now, log });
    return { instance, webhooks, consume };
  };
  return {
    databaseUrl: database.url,
    pool,
    /** What orders and payments have to tell. */
    past,
    start,
    /** A webhook of a merchant of its own, unless one is given; subscribed to everything and enabled. */
    webhook: async (url: string, given: Partial<{ merchantId: string; events: string[]; isEnabled: boolean }> = {}) => {
      const { merchantId = newId('merchant'), events = ALL_EVENTS, isEnabled = true } = given;
      const secret = newSecret();
      const id = newId('webhook');
      await pool.query(
        'insert into gateway.webhooks (id, merchant_id, url, events, is_enabled, secret_box) values ($1, $2, $3, $4, $5, $6)',
        [id, merchantId, url, events, isEnabled, box.seal(secret)],
      );
      return { id, merchantId, secret };
    },
    /** Resolves once the query has a row, which it returns. */
    eventually: async <T>(sql: string, values: unknown[] = []): Promise<T> => {
      for (;;) {
        const { rows } = await pool.query(sql, values);
        if (rows[0]) return rows[0] as T;
        await new Promise((done) => setTimeout(done, 10));
      }
    },
    /** What a dispatcher's death leaves behind: leases that nobody renews. */
    letLeasesRunOut: () => pool.query("update webhooks.instances set expires_at = now() - interval '1 ms'"),
    close: async () => {
      await Promise.all(closing.map((stop) => stop()));
      await pool.end();
      await database.drop();
    },
  };
};

export type Dispatchers = Awaited<ReturnType<typeof dispatchers>>;

type Message = Pick<DomainMessage, 'type'> & { merchantId: string; orderId?: string; time?: string; sequence?: string };

/** A message as it is on Kafka. */
export const message = ({
  type,
  merchantId,
  orderId = newId('order'),
  time,
  sequence = '0',
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
    subject: data.id,
    time: at.toISOString(),
    datacontenttype: 'application/json',
    dataschema: 'test',
    sequence,
    correlationid: 'test',
    causationid: 'test',
    merchantid: merchantId,
    orderid: orderId,
    data: { change: {}, resource: type === 'order.deleted' ? null : isOrder ? { ...data, id: orderId } : data },
  } as unknown as DomainMessage;
};
