import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { groupBy, newId, type SecretBox } from '@cpg/platform';
import { LRUCache } from 'lru-cache';
import { type Webhook, WEBHOOK_COLUMNS, webhookOf, type WebhookRow } from './webhook.ts';

/** All webhooks of a merchant except deleted ones. */
export interface Subscriptions {
  readonly webhooks: readonly Webhook[];
  /** Changes whenever one of the webhooks changes. The function `webhooks.ingest` compares it with the database. */
  readonly version: string;
}

/** A cache of webhooks. Entries are at most a few seconds old when they are used for attempts. */
export interface Directory {
  /** Cached subscriptions by merchant, of any age: `ingest` rejects outdated ones. */
  readonly ofMerchants: (merchantIds: readonly string[]) => Promise<ReadonlyMap<string, Subscriptions>>;
  /** Runs `work` with the current subscriptions. Changes of these webhooks wait until `work` ends; new webhooks do
   *  not. */
  readonly withLocked: <T>(
    merchantIds: readonly string[],
    work: (subscriptions: ReadonlyMap<string, Subscriptions>) => Promise<T>,
  ) => Promise<T>;
  /** Reads webhooks that are not cached or whose entry is older than `maxAgeMs`. */
  readonly load: (ids: readonly string[], maxAgeMs?: number) => Promise<void>;
  /** Throws FatalStartError when a secret was encrypted with a key that is not configured. */
  readonly checkKeys: () => Promise<void>;
  /** The cached webhook: null if it does not exist or is deleted, undefined if it is not cached. */
  readonly get: (id: string) => Webhook | null | undefined;
  /** Disables webhooks. Merchants can read the reason. */
  readonly disable: (ids: readonly string[], reason: string) => Promise<void>;
}

export interface DirectoryOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly now: () => Date;
  /** The default maximum age of an entry for `load`. */
  readonly maxAgeMs?: number;
  /** Maximum entries. The least recently used are evicted. */
  readonly capacity?: number;
}

export const createDirectory = (options: DirectoryOptions): Directory => {
  const { pool, box, now, maxAgeMs: defaultMaxAgeMs = 2_000, capacity = 20_000 } = options;
  // These hold webhooks, not their ids: webhooks and version must be from the same read.
  const merchants = new LRUCache<string, Subscriptions>({ max: capacity });
  const entries = new LRUCache<string, Entry>({
    max: capacity,
    dispose: ({ webhook }, _id, reason) => {
      if (reason === 'evict' && webhook) merchants.delete(webhook.merchantId);
    },
  });
  /** Caches a row, or with undefined that there is none. */
  const put = (id: string, row: WebhookRow | undefined): Webhook | null => {
    const webhook = row ? webhookOf(row, box) : null;
    entries.set(id, { webhook, row, readMs: performance.now() });
    return webhook;
  };
  const readMerchants = async (db: Queryable, merchantIds: readonly string[]) => {
    const found = new Map<string, Subscriptions>();
    if (merchantIds.length === 0) return found;
    const { rows } = await db.query<WebhookRow & { version: string }>({
      name: 'webhooks-of-merchants',
      text: `select ${WEBHOOK_COLUMNS}, version from gateway.webhook_endpoints
        where merchant_id = any($1) order by id collate "C"`,
      values: [merchantIds],
    });
    const byMerchant = groupBy(rows, (row) => row.merchant_id);
    for (const id of merchantIds) {
      const own = byMerchant.get(id) ?? [];
      const webhooks = own.map(({ version: _, ...row }) => put(row.id, row)!);
      const subscriptions = { webhooks, version: own.map((row) => `${row.id} ${row.version}`).join(',') };
      found.set(id, subscriptions);
      merchants.set(id, subscriptions);
    }
    return found;
  };
  return {
    ofMerchants: async (merchantIds) => {
      const cached = new Map<string, Subscriptions>();
      for (const id of merchantIds) {
        const subscriptions = merchants.get(id);
        if (subscriptions) cached.set(id, subscriptions);
      }
      const missing = merchantIds.filter((id) => !cached.has(id));
      return new Map([...cached, ...(await readMerchants(pool, missing))]);
    },
    withLocked: (merchantIds, work) =>
      transaction(pool, async (db) => {
        await db.query('select gateway.lock_webhooks($1)', [merchantIds]);
        return work(await readMerchants(db, merchantIds));
      }),
    load: async (ids, maxAgeMs = defaultMaxAgeMs) => {
      const oldest = performance.now() - maxAgeMs;
      const outdated = [...new Set(ids)].filter((id) => (entries.get(id)?.readMs ?? -Infinity) < oldest);
      if (outdated.length === 0) return;
      const { rows } = await pool.query<WebhookRow>(
        `select ${WEBHOOK_COLUMNS} from gateway.webhook_endpoints where id = any($1)`,
        [outdated],
      );
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const id of outdated) put(id, found.get(id));
    },
    checkKeys: async () => {
      const { rows } = await pool.query<{ box: string }>(
        `select min(box) as box
           from gateway.webhook_endpoints, unnest(array[secret_box, previous_secret_box, older_secret_box]) as box
          where box <> ''
          group by split_part(box, '.', 2)`,
      );
      box.requireKeysOf(rows.map((row) => row.box));
    },
    get: (id) => entries.get(id)?.webhook,
    disable: async (ids, reason) => {
      const at = now();
      const eventIds = ids.map(() => newId('event', at));
      await pool.query('select gateway.disable_webhooks($1, $2, $3, $4)', [ids, eventIds, reason, at.toISOString()]);
      for (const id of ids) {
        const row = entries.get(id)?.row;
        if (row) put(id, { ...row, is_enabled: false });
      }
    },
  };
};

interface Entry {
  readonly webhook: Webhook | null;
  readonly row: WebhookRow | undefined;
  /** When it was read, as `performance.now()`. */
  readonly readMs: number;
}
