import { createHmac } from 'node:crypto';
import type { Delivery } from './delivery.ts';

const SECRET_PREFIX = 'whsec_';
const USER_AGENT = 'crypto-payment-gateway-webhooks/1';

/** The signing key in a webhook secret, which is `whsec_` and the key in base64. */
export const signingKey = (secret: string): Buffer => {
  if (!secret.startsWith(SECRET_PREFIX)) throw new RangeError('a webhook secret must begin with whsec_');
  return Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
};

/** HMAC-SHA256 over `<event id>.<unix seconds>.<raw body>`. */
const macOf = (key: Buffer, eventId: string, seconds: number, body: Buffer): Buffer =>
  createHmac('sha256', key).update(`${eventId}.${seconds}.`).update(body).digest();

/** The headers of an attempt at `now`: name, value, name, value, and so on. Each key adds a signature; during a secret
 *  rotation there are two keys. Each MAC is sent twice: in `x-signature`, and in `webhook-signature` as Standard
 *  Webhooks 1.0.0 defines it. */
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
    ...(event.hash === null ? [] : ['x-event-hash', event.hash]),
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
