import { fromBase64, fromHex } from './bytes.ts';
import { WebhookVerificationError } from './error.ts';

/** The headers of a request, as Node.js or as `fetch` represents them. Names are case-insensitive. */
export type DeliveryHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The signature in the headers of a delivery. */
export interface SignatureHeaders {
  readonly eventId: string;
  /** When the attempt was made, Unix seconds, as it was signed. */
  readonly sentAt: string;
  /** One MAC per secret in use. */
  readonly macs: readonly Uint8Array[];
}

/** Reads `x-signature` and `x-idempotency-key`, or the headers of Standard Webhooks if there is no `x-signature`. Both
 *  forms have the same MACs. */
export const signatureIn = (headers: DeliveryHeaders): SignatureHeaders => {
  const own = headerIn(headers, 'x-signature');
  if (own !== undefined) return { ...parseSignature(own), eventId: eventIdIn(headers, 'x-idempotency-key') };
  if (headerIn(headers, 'webhook-signature') === undefined)
    throw new WebhookVerificationError('missing_header', 'the headers x-signature and webhook-signature are missing');
  const sentAt = requiredHeader(headers, 'webhook-timestamp');
  if (!SECONDS.test(sentAt)) throw malformed('webhook-timestamp');
  const macs = requiredHeader(headers, 'webhook-signature')
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => fromBase64(part.slice(3)) ?? NO_BYTES);
  if (macs.length === 0) throw malformed('webhook-signature');
  return { eventId: eventIdIn(headers, 'webhook-id'), sentAt, macs };
};

/** The number of the event on its order or payment; undefined if a proxy removed the header. */
export const sequenceIn = (headers: DeliveryHeaders): number | undefined => {
  const text = headerIn(headers, 'x-sequence');
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw malformed('x-sequence');
  return Number(text);
};

// It equals no MAC.
const NO_BYTES = new Uint8Array();

const SECONDS = /^\d{1,12}$/;

/** `t=1769860800,v1=5257...,v1=...` */
const parseSignature = (text: string): Omit<SignatureHeaders, 'eventId'> => {
  const parts = text.split(',').map((part) => part.trim().split('=', 2) as [string, string?]);
  const sentAt = parts.find(([name]) => name === 't')?.[1] ?? '';
  const macs = parts.filter(([name]) => name === 'v1').map(([, hex = '']) => fromHex(hex) ?? NO_BYTES);
  if (!SECONDS.test(sentAt) || macs.length === 0) throw malformed('x-signature');
  return { sentAt, macs };
};

// A dot separates the signed parts. An id with a dot would let one MAC fit several combinations of id, time and body.
const EVENT_ID = /^[\w-]{1,128}$/;

const eventIdIn = (headers: DeliveryHeaders, name: string): string => {
  const id = requiredHeader(headers, name);
  if (!EVENT_ID.test(id))
    throw new WebhookVerificationError('malformed_header', `${name} is not an event id of the gateway`);
  return id;
};

const requiredHeader = (headers: DeliveryHeaders, name: string): string => {
  const value = headerIn(headers, name);
  if (value === undefined || value === '') throw new WebhookVerificationError('missing_header', `${name} is missing`);
  return value;
};

const headerIn = (headers: DeliveryHeaders, name: string): string | undefined => {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined;
  const key = name in headers ? name : Object.keys(headers).find((other) => other.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  if (value === undefined || typeof value === 'string') return value;
  if (value.length !== 1) throw new WebhookVerificationError('malformed_header', `${name} occurs more than once`);
  return value[0];
};

// Not `instanceof`: some libraries have their own class of headers.
const isFetchHeaders = (headers: DeliveryHeaders): headers is Headers => typeof headers.get === 'function';

const malformed = (name: string) =>
  new WebhookVerificationError('malformed_header', `${name} does not have the form that the gateway gives it`);
