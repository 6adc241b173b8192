import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '@cpg/contracts';

export const TIMESTAMP_HEADER = 'x-provider-timestamp';
export const SIGNATURE_HEADER = 'x-provider-signature';

/** How far the clock of a provider may differ from ours. An older message may be a replay. */
const TOLERANCE_SECONDS = 5 * 60;

/** The headers that sign a message. Headers that a request does not have are undefined. */
export interface SignatureHeaders {
  /** Seconds since 1970. */
  readonly timestamp?: string | undefined;
  /** `v1=` and the HMAC-SHA256 of `<timestamp>.<body>` in hex. */
  readonly signature?: string | undefined;
}

/** The headers of a message that is signed at `now`. */
export const signedHeaders = (secret: string, body: string, now: Date): Record<string, string> => {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  return {
    [TIMESTAMP_HEADER]: timestamp,
    [SIGNATURE_HEADER]: `v1=${macOf(secret, timestamp, Buffer.from(body)).toString('hex')}`,
  };
};

/** Throws `invalid_signature` unless one of the secrets signed the body within the tolerance. */
export const requireSignature = (
  { timestamp, signature }: SignatureHeaders,
  body: Buffer,
  { secrets, now }: { readonly secrets: readonly string[]; readonly now: Date },
): void => {
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) throw refusal(`${TIMESTAMP_HEADER} is missing`);
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw refusal(`${TIMESTAMP_HEADER} is more than ${TOLERANCE_SECONDS} seconds from now`);
  const hex = /^v1=([0-9a-f]{64})$/.exec(signature ?? '')?.[1];
  if (hex === undefined) throw refusal(`${SIGNATURE_HEADER} is missing or has another form than v1=<64 hex digits>`);
  const given = Buffer.from(hex, 'hex');
  // Compares with every secret, so that the time does not tell which one is in use.
  const matches = secrets.filter((secret) => timingSafeEqual(macOf(secret, timestamp, body), given));
  if (matches.length === 0) throw refusal(`${SIGNATURE_HEADER} does not fit the body`);
};

const macOf = (secret: string, timestamp: string, body: Buffer): Buffer =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest();

const refusal = (message: string): AppError => new AppError('invalid_signature', message);
