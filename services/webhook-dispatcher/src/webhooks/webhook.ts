import type { WebhookFilter } from '@cpg/contracts';
import { type SecretBox, webhookRow } from '@cpg/platform';
import { signingKey } from '../delivery/sign.ts';

/** A webhook's configuration, which the gateway owns. */
export interface Webhook {
  readonly id: string;
  readonly merchantId: string;
  /** Throws when it cannot be parsed: that must not hold up other webhooks. */
  readonly url: URL;
  readonly events: readonly string[];
  /** The metadata that an order has whose events the webhook receives. Null for all orders. */
  readonly filter: WebhookFilter | null;
  readonly isEnabled: boolean;
  /** The keys that sign at `now`: the current one and, after rotations, up to two earlier ones. Throws when a secret
   *  cannot be decrypted. */
  readonly keys: (now: Date) => Buffer[];
}

/** A row of `gateway.webhook_endpoints`. */
export interface WebhookRow {
  id: string;
  merchant_id: string;
  url: string;
  events: string[];
  filter: WebhookFilter | null;
  is_enabled: boolean;
  secret_box: string;
  previous_secret_box: string | null;
  previous_secret_until: Date | null;
  older_secret_box: string | null;
  older_secret_until: Date | null;
}

export const WEBHOOK_COLUMNS = `id, merchant_id, url, events, filter, is_enabled, secret_box, previous_secret_box, previous_secret_until,
  older_secret_box, older_secret_until`;

/** Decrypts the secrets with `box` when they are first used. */
export const webhookOf = (row: WebhookRow, box: SecretBox): Webhook => {
  const keys = new Map<string, Buffer>();
  const keyIn = (secretBox: string): Buffer => {
    const key = keys.get(secretBox) ?? signingKey(box.open(secretBox, webhookRow(row.id)));
    keys.set(secretBox, key);
    return key;
  };
  let url: URL | undefined;
  return {
    id: row.id,
    merchantId: row.merchant_id,
    get url() {
      return (url ??= new URL(row.url));
    },
    events: row.events,
    filter: row.filter,
    isEnabled: row.is_enabled,
    keys: (now) => {
      const earlier = [
        { secretBox: row.previous_secret_box, until: row.previous_secret_until },
        { secretBox: row.older_secret_box, until: row.older_secret_until },
      ].flatMap(({ secretBox, until }) => (secretBox && until && until > now ? [secretBox] : []));
      return [row.secret_box, ...earlier].map(keyIn);
    },
  };
};
