import type { Pool } from '@cpg/postgres';
import type { SecretBox } from '@cpg/runtime';
import type { FastifyRequest } from 'fastify';
import { findKeyOfCreate, hasKeysOfCreates } from '../queries/idempotency.ts';
import { callerOf } from '../request.ts';
import { type FinalResponse, idempotencyKeyOf, orderIdOfKey, responseOf } from './idempotency-key.ts';
import { requestFingerprint } from './request-fingerprint.ts';

/** The order that a create is about. */
export interface OrderKey {
  readonly orderId: string;
  /** The fingerprint of the request, if orders compares it with that of the earlier one. */
  readonly requestHash?: string;
  /** Whether an earlier request may have created it. */
  readonly mayRepeat: boolean;
  /** The response that an earlier version stored. */
  readonly stored?: FinalResponse;
}

/** Earlier versions stored keys of creates; another gateway may still do so during an upgrade. */
const LOOK_AGAIN_AFTER_MS = 10_000;

/** Names the order of each create. With an Idempotency-Key the id is derived from merchant and key, so all gateways and
 *  all repeats name the same one, and nothing is stored here. Keys that an earlier version stored are found for as long
 *  as there are any. */
export const orderKeys = ({
  pool,
  box,
  nowMs = () => performance.now(),
}: {
  readonly pool: Pool;
  readonly box: SecretBox;
  readonly nowMs?: () => number;
}) => {
  let hasEarlierKeys = true;
  let lookedAtMs = -Infinity;

  const findEarlier = async (merchantId: string, key: string) => {
    if (nowMs() - lookedAtMs >= LOOK_AGAIN_AFTER_MS) {
      lookedAtMs = nowMs();
      hasEarlierKeys = true;
      hasEarlierKeys = await hasKeysOfCreates(pool);
    }
    return hasEarlierKeys ? findKeyOfCreate(pool, { merchantId, key }) : null;
  };

  return async (request: FastifyRequest): Promise<OrderKey> => {
    const key = idempotencyKeyOf(request);
    if (key === undefined) return { orderId: `ord_${request.seed}`, mayRepeat: false };
    const { merchantId } = callerOf(request);
    const requestHash = requestFingerprint(request);
    const earlier = await findEarlier(merchantId, key);
    if (!earlier) return { orderId: orderIdOfKey(merchantId, key), requestHash, mayRepeat: true };
    const stored = await responseOf(earlier, { merchantId, key, requestHash }, { pool, box });
    // Without a response the request was interrupted: its order may exist under the id that was stored before.
    return { orderId: `ord_${earlier.seed}`, mayRepeat: true, ...(stored && { stored }) };
  };
};
