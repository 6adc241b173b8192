import { WebhookVerificationError } from './error.ts';

/** The headers of a request: as Node has them, or as `fetch` has. Names in any case. */
export type DeliveryHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a delivery says about its signature: the event's id, when the attempt was made, and one MAC per secret in use. */
export interface SignatureHeaders {
  readonly eventId: string;
  /** As it was signed, Unix seconds. */
  readonly sentAt: string;
  readonly macs: readonly Buffer[];
}

/** Reads `x-signature` and `x-idempotency-key`, or the headers of Standard Webhooks where there is no `x-signature`: both carry the
 *  same MACs. */
export const signatureIn = (headers: DeliveryHeaders): SignatureHeaders => {
  const own = headerIn(headers, 'x-signature');
  if (own !== undefined) return { ...readOwn(own), eventId: eventIdIn(headers, 'x-idempotency-key') };
  if (headerIn(headers, 'webhook-signature') === undefined)
    throw new WebhookVerificationError('missing_header', 'neither x-signature nor webhook-signature is there');
  const sentAt = needed(headers, 'webhook-timestamp');
  if (!SECONDS.test(sentAt)) throw malformed('webhook-timestamp');
  const macs = needed(headers, 'webhook-signature')
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .map((part) => Buffer.from(part.slice(3), 'base64'));
  if (macs.length === 0) throw malformed('webhook-signature');
  return { eventId: eventIdIn(headers, 'webhook-id'), sentAt, macs };
};

const SECONDS = /^\d{1,12}$/;

/** `t=1769860800,v1=5257...,v1=...` */
const readOwn = (text: string): Omit<SignatureHeaders, 'eventId'> => {
  const parts = text.split(',').map((part) => part.trim().split('=', 2) as [string, string?]);
  const sentAt = parts.find(([name]) => name === 't')?.[1] ?? '';
  const macs = parts.filter(([name]) => name === 'v1').map(([, hex = '']) => Buffer.from(hex, 'hex'));
  if (!SECONDS.test(sentAt) || macs.length === 0) throw malformed('x-signature');
  return { sentAt, macs };
};

// A dot parts what is signed: with one in the id, the same MAC would be of another body, too.
const EVENT_ID = /^[\w-]{1,128}$/;

const eventIdIn = (headers: DeliveryHeaders, name: string): string => {
  const id = needed(headers, name);
  if (!EVENT_ID.test(id)) throw new WebhookVerificationError('malformed_header', `${name} is not an id of ours`);
  return id;
};

const needed = (headers: DeliveryHeaders, name: string): string => {
  const value = headerIn(headers, name);
  if (value === undefined || value === '') throw new WebhookVerificationError('missing_header', `${name} is missing`);
  return value;
};

const headerIn = (headers: DeliveryHeaders, name: string): string | undefined => {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined;
  const key = name in headers ? name : Object.keys(headers).find((other) => other.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  if (value === undefined || typeof value === 'string') return value;
  if (value.length !== 1) throw new WebhookVerificationError('malformed_header', `${name} is there more than once`);
  return value[0];
};

// Not by instanceof: libraries bring classes of their own.
const isFetchHeaders = (headers: DeliveryHeaders): headers is Headers => typeof headers.get === 'function';

const malformed = (name: string) =>
  new WebhookVerificationError('malformed_header', `${name} does not have the form of a signature of ours`);
