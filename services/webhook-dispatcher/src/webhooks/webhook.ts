import type { SecretBox } from '@cpg/runtime';
import { signingKey } from '../delivery/sign.ts';

/** A webhook's configuration, which the gateway owns. */
export interface Webhook {
  readonly id: string;
  readonly merchantId: string;
  readonly url: URL;
  readonly events: readonly string[];
  readonly isEnabled: boolean;
  /** The keys that sign at `now`: the current one and, during a rotation, the previous one. Throws when a secret cannot
   *  be decrypted. */
  readonly keys: (now: Date) => Buffer[];
}

/** A row of `gateway.webhooks`. */
export interface WebhookRow {
  id: string;
  merchant_id: string;
  url: string;
  events: string[];
  is_enabled: boolean;
  secret_box: string;
  previous_secret_box: string | null;
  previous_secret_until: Date | null;
}

export const WEBHOOK_COLUMNS =
  'id, merchant_id, url, events, is_enabled, secret_box, previous_secret_box, previous_secret_until';

export const isSameRow = (a: WebhookRow, b: WebhookRow): boolean =>
  a.url === b.url &&
  a.is_enabled === b.is_enabled &&
  a.secret_box === b.secret_box &&
  a.previous_secret_box === b.previous_secret_box &&
  a.previous_secret_until?.getTime() === b.previous_secret_until?.getTime() &&
  a.events.join() === b.events.join();

/** Decrypts the secrets with `box` when they are first used. */
export const webhookOf = (row: WebhookRow, box: SecretBox): Webhook => {
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
