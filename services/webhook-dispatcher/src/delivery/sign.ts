import { createHmac } from 'node:crypto';
import type { Delivery } from './delivery.ts';

const SECRET_PREFIX = 'whsec_';
export const USER_AGENT = 'crypto-payment-gateway-webhooks/1';

/** The key that a webhook's secret stands for: `whsec_` and base64. */
export const signingKey = (secret: string): Buffer => {
  if (!secret.startsWith(SECRET_PREFIX)) throw new RangeError('a webhook secret begins with whsec_');
  return Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
};

/** HMAC-SHA256 over `<event id>.<unix seconds>.<raw body>`. */
const macOf = (key: Buffer, eventId: string, seconds: number, body: Buffer): Buffer =>
  createHmac('sha256', key).update(`${eventId}.${seconds}.`).update(body).digest();

/** The headers of an attempt made at `now`, names and values in turn. Each key adds a signature; two are valid while a secret is
 *  rotated. The same MAC goes out twice: as `x-signature` and as Standard Webhooks 1.0.0 writes it. */
export const headersOf = ({ id, event }: Delivery, keys: readonly Buffer[], now: Date): string[] => {
  const seconds = Math.floor(now.getTime() / 1_000);
  const macs = keys.map((key) => macOf(key, event.id, seconds, event.body));
  return [
    'content-type',
    'application/json',
    'user-agent',
    USER_AGENT,
    'x-signature',
    [`t=${seconds}`, ...macs.map((mac) => `v1=${mac.toString('hex')}`)].join(','),
    'x-timestamp',
    String(event.occurredMs),
    'x-idempotency-key',
    event.id,
    'x-sequence',
    event.sequence,
    'x-delivery-id',
    id,
    'webhook-id',
    event.id,
    'webhook-timestamp',
    String(seconds),
    'webhook-signature',
    macs.map((mac) => `v1,${mac.toString('base64')}`).join(' '),
  ];
};
