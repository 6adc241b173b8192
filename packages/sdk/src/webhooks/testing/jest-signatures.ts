import { createHmac, randomBytes } from 'node:crypto';
import { WebhookVerificationError } from '../error.ts';
import { verify, type VerifyOptions } from '../verify.ts';

export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
export const SECRET = newSecret();
export const ID = 'evt_01KG9Q2T8Q1A2B3C4D5E6F7G8H';
export const AT = 1_769_861_074;
export const BODY = '{"event":"order:paid","object_type":"order","timestamp":1769861074000,"data":{"id":"ord_1"}}';

export const macOf = (secret: string, { id = ID, at = AT, body = BODY } = {}) =>
  createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${at}.${body}`)
    .digest();
/** The headers `x-signature` and `x-idempotency-key`, signed with each secret. */
export const own = (...secrets: string[]) => ({
  'x-idempotency-key': ID,
  'x-signature': [`t=${AT}`, ...secrets.map((secret) => `v1=${macOf(secret).toString('hex')}`)].join(','),
});
/** The headers of Standard Webhooks, signed with each secret. */
export const standard = (...secrets: string[]) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(AT),
  'webhook-signature': secrets.map((secret) => `v1,${macOf(secret).toString('base64')}`).join(' '),
});
export const now = () => new Date(AT * 1_000);
/** Verifies BODY at the time AT, unless the options differ. */
export const check = (
  headers: Parameters<typeof verify>[1],
  {
    body = BODY,
    secret = SECRET,
    ...options
  }: VerifyOptions & {
    body?: string | Uint8Array;
    secret?: string | string[];
  } = {},
) => verify(body, headers, secret, { now, ...options });
/** The fault with which `run` refuses a delivery, or `none`. */
export const faultOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.fault;
    throw error;
  }
  return 'none';
};
