import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookPayload } from '@cpg/contracts';
import { verify } from '@cpg/webhook-verifier';
import { Webhook as StandardWebhook } from 'standardwebhooks';

/** A delivery as it came over the wire. Header names are in lower case. */
export interface Delivered {
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: string;
}

/** Verifies a delivery as its receiver would: by our verifier, by the npm package `standardwebhooks`, and by `x-signature` as
 *  `decisions.md` describes it. Throws when any one fails. Returns what was delivered. */
export const verified = (delivered: Delivered, secret: string): WebhookPayload => {
  const { headers, rawBody } = delivered;
  verify(rawBody, headers, secret);
  new StandardWebhook(secret).verify(rawBody, { ...headers });
  if (!verifiesBySignature(delivered, secret)) throw new Error(`x-signature is wrong: ${headers['x-signature']}`);
  return WebhookPayload.parse(JSON.parse(rawBody));
};

/** `t=<unix seconds>,v1=<hex>`, any one of its `v1`: HMAC-SHA256 over `<x-idempotency-key>.<t>.<raw body>`, keyed by the decoded secret. */
export const verifiesBySignature = ({ headers, rawBody }: Delivered, secret: string): boolean => {
  const parts = (headers['x-signature'] ?? '').split(',').map((part) => part.split('=') as [string, string]);
  const seconds = parts.find(([name]) => name === 't')?.[1];
  const mac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${headers['x-idempotency-key']}.${seconds}.${rawBody}`)
    .digest();
  return parts
    .filter(([name]) => name === 'v1')
    .map(([, hex]) => Buffer.from(hex, 'hex'))
    .some((given) => given.length === mac.length && timingSafeEqual(given, mac));
};
