import { createHmac, timingSafeEqual } from 'node:crypto';
import { WebhookVerificationError } from './error.ts';
import type { WebhookEvent } from './events.ts';
import { type DeliveryHeaders, signatureIn, type SignatureHeaders } from './headers.ts';

export interface VerifyOptions {
  /** How far the time of the attempt may be from now, in seconds. Infinity accepts any. */
  readonly toleranceSeconds?: number;
  readonly now?: () => Date;
}

const TOLERANCE_SECONDS = 300;

/** The event that a delivery tells of, once it is certain that the gateway sent exactly these bytes, lately. `rawBody` is the body as it
 *  was received, before any parsing; `secret` is the `whsec_...` of the webhook, or several while one replaces another. Throws
 *  WebhookVerificationError, whose `fault` says what was wrong with the delivery; a TypeError when the body was parsed already, or the
 *  secret is none. */
export const verify = (
  rawBody: string | Uint8Array,
  headers: DeliveryHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = () => new Date() }: VerifyOptions = {},
): WebhookEvent => {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array))
    throw new TypeError('pass the body as it was received: a string or bytes, before it is parsed');
  const keys = keysOf(secret);
  const signature = signatureIn(headers);
  if (!isSigned(rawBody, signature, keys))
    throw new WebhookVerificationError(
      'signature_mismatch',
      'no signature is of this body under this secret: is it the secret of this webhook, and the body exactly as received?',
    );
  checkTime(Number(signature.sentAt), now().getTime() / 1_000, toleranceSeconds);
  return { ...eventIn(rawBody), id: signature.eventId };
};

const PREFIX = 'whsec_';
const LEAST_KEY_BYTES = 16;

const keysOf = (secret: string | readonly string[]): Buffer[] => {
  const keys = [secret].flat().map((one) => {
    const text = String(one);
    return Buffer.from(text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '', 'base64');
  });
  if (keys.length === 0 || keys.some((key) => key.length < LEAST_KEY_BYTES))
    throw new TypeError('the secret is not whsec_ and base64: is it set?');
  return keys;
};

/** Every signature is compared with that of every key, each in constant time, and none is left out. */
const isSigned = (body: string | Uint8Array, { eventId, sentAt, macs }: SignatureHeaders, keys: readonly Buffer[]) => {
  let matches = false;
  for (const key of keys) {
    const expected = createHmac('sha256', key).update(`${eventId}.${sentAt}.`).update(body).digest();
    for (const mac of macs) if (mac.length === expected.length && timingSafeEqual(mac, expected)) matches = true;
  }
  return matches;
};

const checkTime = (sentAt: number, now: number, tolerance: number) => {
  if (sentAt < now - tolerance)
    throw new WebhookVerificationError(
      'timestamp_too_old',
      `it was sent ${Math.round(now - sentAt)} s ago, and ${tolerance} s are tolerated`,
    );
  if (sentAt > now + tolerance)
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `it was sent ${Math.round(sentAt - now)} s from now: is the clock of this machine right?`,
    );
};

const eventIn = (body: string | Uint8Array): WebhookEvent => {
  const malformed = () => new WebhookVerificationError('malformed_body', 'the body is not the event of a webhook');
  let parsed: unknown;
  try {
    parsed = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
  } catch {
    throw malformed();
  }
  if (typeof parsed !== 'object' || parsed === null) throw malformed();
  const { event, data } = parsed as Partial<WebhookEvent>;
  if (typeof event !== 'string' || typeof data !== 'object' || data === null) throw malformed();
  return parsed as WebhookEvent;
};
