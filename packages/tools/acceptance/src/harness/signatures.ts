import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookPayload } from '@cpg/contracts';
import { verify } from '@cpg/webhook-verifier';
import { Webhook as StandardWebhook } from 'standardwebhooks';

/** A received delivery. Header names are in lower case. */
export interface Delivered {
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: string;
}

/** Verifies a delivery in three ways: with @cpg/webhook-verifier, with the npm package standardwebhooks, and by
 *  `x-signature`. Returns the payload. Throws if one of them fails. */
export const verifyDelivery = (delivered: Delivered, secret: string): WebhookPayload => {
  const { headers, rawBody } = delivered;
  verify(rawBody, headers, secret);
  new StandardWebhook(secret).verify(rawBody, { ...headers });
  if (!hasValidXSignature(delivered, secret)) throw new Error(`x-signature is wrong: ${headers['x-signature']}`);
  return WebhookPayload.parse(JSON.parse(rawBody));
};

/** Whether a `v1` of `x-signature` (`t=<unix seconds>,v1=<hex>[,v1=<hex>]`) is the HMAC-SHA256 of
 *  `<x-idempotency-key>.<t>.<raw body>` with the decoded secret as key. */
export const hasValidXSignature = ({ headers, rawBody }: Delivered, secret: string): boolean => {
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
