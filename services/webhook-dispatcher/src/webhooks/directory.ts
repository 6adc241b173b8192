import type { Pool } from '@cpg/postgres';
import type { SecretBox } from '@cpg/runtime';
import { signingKey } from '../delivery/sign.ts';
import { groupBy } from '../group-by.ts';

/** A webhook's configuration, as the gateway keeps it. */
export interface Webhook {
  readonly id: string;
  readonly merchantId: string;
  readonly url: URL;
  readonly events: readonly string[];
  readonly isEnabled: boolean;
  /** The keys that sign at `now`: the current one, and during rotation the one before. Throws when a secret cannot be decrypted. */
  readonly keys: (now: Date) => Buffer[];
}

/** All webhooks of a merchant but deleted ones. */
export interface Subscriptions {
  readonly webhooks: readonly Webhook[];
  /** Another one as soon as one of them is another: `webhooks.take_in` compares it. */
  readonly version: string;
}

/** What is known of webhooks, a few seconds old at most. */
export interface Directory {
  /** By merchant, as they were last read, however long ago; those never read, and all when asked to read `anew`, from the database. */
  readonly ofMerchants: (
    merchantIds: readonly string[],
    options?: { anew: boolean },
  ) => Promise<ReadonlyMap<string, Subscriptions>>;
  /** Reads those that are not known, or for longer than `olderThanMs`. */
  readonly load: (ids: readonly string[], olderThanMs?: number) => Promise<void>;
  /** What was last read: null for one that is deleted or never was, undefined for one that was not read. */
  readonly get: (id: string) => Webhook | null | undefined;
  /** Turns a webhook off, for a reason that its owner can read. */
  readonly disable: (ids: readonly string[], reason: string) => Promise<void>;
}

interface Row {
  id: string;
  merchant_id: string;
  url: string;
  events: string[];
  is_enabled: boolean;
  secret_box: string;
  previous_secret_box: string | null;
  previous_secret_until: Date | null;
}

const COLUMNS = 'id, merchant_id, url, events, is_enabled, secret_box, previous_secret_box, previous_secret_until';

export interface DirectoryOptions {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly now: () => Date;
  /** How long an entry is taken as it is. */
  readonly freshMs?: number;
  /** Entries kept at most: those read longest ago go first. */
  readonly capacity?: number;
}

export const createDirectory = (options: DirectoryOptions): Directory => {
  const { pool, box, now, freshMs = 2_000, capacity = 20_000 } = options;
  const entries = new Map<string, { webhook: Webhook | null; readMs: number; row?: Row }>();
  // The webhooks beside their version, and not by their ids: an entry may have been read before or after it.
  const merchants = new Map<string, Subscriptions>();

  const remember = (id: string, row: Row | undefined) => {
    const known = entries.get(id);
    const unchanged = known?.row && row && isSame(known.row, row);
    const webhook = unchanged ? known.webhook : row ? webhookOf(row, box) : null;
    entries.delete(id);
    entries.set(id, { webhook, readMs: performance.now(), ...(row && { row }) });
    return webhook;
  };
  const readMerchants = async (ids: readonly string[]): Promise<Map<string, Subscriptions>> => {
    if (ids.length === 0) return new Map();
    const { rows } = await pool.query<Row & { version: string }>({
      name: 'webhooks-of-merchants',
      text: `select ${COLUMNS}, xmin::text as version from gateway.webhooks
        where merchant_id = any($1) and deleted_at is null order by id collate "C"`,
      values: [ids],
    });
    const found = groupBy(rows, (row) => row.merchant_id);
    return new Map(
      ids.map((id) => {
        const own = found.get(id) ?? [];
        const webhooks = own.map(({ version: _, ...row }) => remember(row.id, row)!);
        return [id, { webhooks, version: own.map((row) => `${row.id} ${row.version}`).join(',') }];
      }),
    );
  };
  const trim = () => {
    for (const [id, { webhook }] of entries) {
      if (entries.size <= capacity) break;
      entries.delete(id);
      if (webhook) merchants.delete(webhook.merchantId);
    }
    for (const id of merchants.keys()) {
      if (merchants.size <= capacity) break;
      merchants.delete(id);
    }
  };
  return {
    ofMerchants: async (merchantIds, { anew } = { anew: false }) => {
      const found = new Map<string, Subscriptions>();
      const unknown: string[] = [];
      for (const id of merchantIds) {
        const known = anew ? undefined : merchants.get(id);
        if (known) found.set(id, known);
        else unknown.push(id);
      }
      for (const [id, subscriptions] of await readMerchants(unknown)) {
        found.set(id, subscriptions);
        merchants.delete(id);
        merchants.set(id, subscriptions);
      }
      trim();
      return found;
    },
    load: async (ids, olderThanMs = freshMs) => {
      const old = performance.now() - olderThanMs;
      const wanted = [...new Set(ids)].filter((id) => (entries.get(id)?.readMs ?? -Infinity) < old);
      if (wanted.length === 0) return;
      const { rows } = await pool.query<Row>(
        `select ${COLUMNS} from gateway.webhooks where id = any($1) and deleted_at is null`,
        [wanted],
      );
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const id of wanted) remember(id, found.get(id));
      trim();
    },
    get: (id) => entries.get(id)?.webhook,
    disable: async (ids, reason) => {
      await pool.query(
        'update gateway.webhooks set is_enabled = false, disabled_reason = $2, updated_at = $3 where id = any($1) and is_enabled',
        [ids, reason, now()],
      );
      for (const id of ids) {
        const entry = entries.get(id);
        if (entry?.row) remember(id, { ...entry.row, is_enabled: false });
      }
    },
  };
};

const isSame = (a: Row, b: Row): boolean =>
  a.url === b.url &&
  a.is_enabled === b.is_enabled &&
  a.secret_box === b.secret_box &&
  a.previous_secret_box === b.previous_secret_box &&
  a.previous_secret_until?.getTime() === b.previous_secret_until?.getTime() &&
  a.events.join() === b.events.join();

const webhookOf = (row: Row, box: SecretBox): Webhook => {
  let current: Buffer | undefined;
  let previous: Buffer | undefined;
  return {
    id: row.id,
    merchantId: row.merchant_id,
    url: new URL(row.url),
    events: row.events,
    isEnabled: row.is_enabled,
    keys: (now) => {
      current ??= signingKey(box.open(row.secret_box));
      if (!row.previous_secret_box || !row.previous_secret_until || row.previous_secret_until <= now) return [current];
      previous ??= signingKey(box.open(row.previous_secret_box));
      return [current, previous];
    },
  };
};
