import { randomUUID } from 'node:crypto';
import type { Order } from '@cpg/sdk';
import pg from 'pg';
import { xSignatureMac } from '../../harness/receiver.ts';
import type { ShopName } from './installed.ts';

/** A delivery of an event of an order, as the gateway sends it. */
export interface SignedDelivery {
  readonly body: string;
  readonly headers: Record<string, string>;
}

export const signDelivery = (order: Order, secret: string): SignedDelivery => {
  const id = `evt_${randomUUID()}`;
  const seconds = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({
    event: 'order:updated',
    data: order,
    object_type: 'order',
    timestamp: seconds * 1_000,
  });
  const mac = xSignatureMac(secret, `${id}.${seconds}.${body}`).toString('hex');
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'x-signature': `t=${seconds},v1=${mac}`,
      'x-idempotency-key': id,
      'x-sequence': '1',
    },
  };
};

/** Resolves with the status of the answer. */
export const deliver = async (url: string, { body, headers }: SignedDelivery): Promise<number> =>
  (await fetch(url, { method: 'POST', headers, body })).status;

/** Where each plugin keeps the webhook in the database of its shop. */
const STORED: Record<ShopName, string> = {
  medusa: `select text from crypto_payments_values where name = 'webhook'`,
  vendure: `select value::json->>'text' as text from settings_store_entry where key = 'crypto-payments.webhook'`,
};

/** The secret of the webhook, as the plugin keeps it. */
export const secretOf = async (shop: ShopName, databaseUrl: string): Promise<string> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string }>(STORED[shop]);
    return (JSON.parse(rows[0]!.text) as { secret: string }).secret;
  } finally {
    await client.end();
  }
};
