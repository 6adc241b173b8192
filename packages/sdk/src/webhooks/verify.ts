import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { fromBase64, isEqual } from './bytes.ts';
import { WebhookVerificationError } from './error.ts';
import type { WebhookEvent } from './events.ts';
import { type DeliveryHeaders, sequenceIn, signatureIn, type SignatureHeaders } from './headers.ts';

export interface VerifyOptions {
  /** Maximum difference between the time of the attempt and now, in seconds; 300 by default. Infinity accepts any
   *  time. */
  readonly toleranceSeconds?: number;
  readonly now?: () => Date;
}

const TOLERANCE_SECONDS = 300;

/** Verifies that the gateway sent exactly these bytes recently, and returns their event. `rawBody` is the body as
 *  received, before any parsing. `secret` is the `whsec_...` of the webhook, or both secrets during a rotation. Throws
 *  WebhookVerificationError if the delivery must not be trusted; its `fault` says why. Throws TypeError if the body is
 *  already parsed, the headers are missing, the secret is not a webhook secret, or the tolerance is no number. */
export const verify = (
  rawBody: string | Uint8Array,
  headers: DeliveryHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = () => new Date() }: VerifyOptions = {},
): WebhookEvent => {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array))
    throw new TypeError('pass the raw body as it was received, a string or bytes, not parsed JSON');
  if (typeof headers !== 'object' || headers === null) throw new TypeError('pass the headers of the request');
  // Each comparison with NaN, and with text of a setting, would accept any time.
  if (typeof toleranceSeconds !== 'number' || !(toleranceSeconds >= 0))
    throw new TypeError(
      'toleranceSeconds must be a number of seconds, 0 or more: check the setting that it comes from',
    );
  const keys = keysOf(secret);
  const signature = signatureIn(headers);
  if (!isSigned(rawBody, signature, keys))
    throw new WebhookVerificationError(
      'signature_mismatch',
      'no signature matches: use the secret of this webhook, and the body exactly as received',
    );
  checkTime(Number(signature.sentAt), now().getTime() / 1_000, toleranceSeconds);
  return { ...eventIn(rawBody), id: signature.eventId, sequence: sequenceIn(headers) };
};

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 16;

const keysOf = (secret: string | readonly string[]): Uint8Array[] => {
  const keys = [secret].flat().flatMap((one) => {
    const text = String(one);
    const key = text.startsWith(PREFIX) ? fromBase64(text.slice(PREFIX.length)) : null;
    return key !== null && key.length >= MIN_KEY_BYTES ? [key] : [];
  });
  if (keys.length === 0 || keys.length < [secret].flat().length)
    throw new TypeError('the secret must be whsec_ and base64: check that it is set');
  return keys;
};

/** Compares every signature with every key. Each comparison takes constant time, and none is skipped. */
const isSigned = (
  body: string | Uint8Array,
  { eventId, sentAt, macs }: SignatureHeaders,
  keys: readonly Uint8Array[],
): boolean => {
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  let matches = false;
  for (const key of keys) {
    const expected = hmac
      .create(sha256, key)
      .update(bytesOf(`${eventId}.${sentAt}.`))
      .update(typeof body === 'string' ? bytesOf(body) : body)
      .digest();
    for (const mac of macs) if (isEqual(mac, expected)) matches = true;
  }
  return matches;
};

const checkTime = (sentAt: number, now: number, tolerance: number) => {
  // A clock without a time is refused too.
  if (!(sentAt >= now - tolerance))
    throw new WebhookVerificationError(
      'timestamp_too_old',
      `the delivery was sent ${Math.round(now - sentAt)} s ago; the tolerance is ${tolerance} s`,
    );
  if (sentAt > now + tolerance)
    throw new WebhookVerificationError(
      'timestamp_too_new',
      `the delivery was sent ${Math.round(sentAt - now)} s in the future: check the clock of this machine`,
    );
};

const eventIn = (body: string | Uint8Array): WebhookEvent => {
  const malformed = () => new WebhookVerificationError('malformed_body', 'the body is not a webhook event');
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
