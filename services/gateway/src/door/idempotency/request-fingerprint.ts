import { createHash } from 'node:crypto';
import sortKeys from 'sort-keys';

export interface FingerprintedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The validated body; absent when the request has none. */
  readonly body?: unknown;
}

/** SHA-256, in hexadecimal, of method, URL and body. The order of the names in the body does not matter.
 *  Stored with idempotency keys for 24 hours, so a new version must compute the same value: not RFC 8785, which sorts
 *  `"10"` before `"9"`. */
export const requestFingerprint = ({ method, url, body = null }: FingerprintedRequest): string =>
  createHash('sha256')
    .update(JSON.stringify(sortKeys([method, url, body], { deep: true })))
    .digest('hex');
