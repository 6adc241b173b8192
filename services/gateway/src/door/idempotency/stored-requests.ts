import { type Logger, newRequestId, untilAborted } from '@cpg/platform';
import { type Pool, type Queryable, startLeaderElection } from '@cpg/platform/postgres';

/** A request that tries to take the lease of its Idempotency-Key. */
export interface Claim {
  readonly merchantId: string;
  readonly key: string;
  readonly requestHash: string;
  readonly seed: string;
  /** The request that holds the lease, by its unique id. */
  readonly holder: string;
  /** The gateway that runs the request, by the name of its instance lock. */
  readonly instance: string | null;
  /** The order or webhook that the response shows; `{seed}` stands for the seed of new ids. */
  readonly resource: string | null;
  /** The time by which keys end: 1970 while the clock is not trusted. */
  readonly endsBy: Date;
}

export interface StoredRequest {
  readonly request_hash: string;
  readonly seed: string;
  readonly status: number | null;
  readonly answer: string | null;
  readonly sealed: boolean;
  readonly resource_id: string | null;
}

/** The row of a stored response, for the secrets in it. */
export const responseRow = ({ merchantId, key }: Pick<Claim, 'merchantId' | 'key'>): string =>
  `gateway.idempotency_keys ${merchantId} ${key}`;

const RETENTION = '24 hours';
// Longer than any request runs. If one did run longer, its repeat would still create the same ids.
const LEASE = '30 seconds';
// A lease that ends later was taken while the clock of the database ran ahead.
const LONGEST_LEASE = '90 seconds';

/** Takes the lease of a key that is new, expired, released, or whose lease has expired or whose gateway is down.
 *  Returns the seed for new ids: the one stored first for this key. Returns null when the key has a response, a running
 *  request or another fingerprint. */
export const claimRequest = async (db: Queryable, claim: Claim): Promise<string | null> => {
  const { rows } = await db.query<{ seed: string }>({
    name: 'claim-request',
    text: `insert into gateway.idempotency_keys as known
       (merchant_id, key, request_hash, seed, holder, instance, leased_until, expires_at, resource_id)
     values ($1, $2, $3, $4, $5, $6, now() + interval '${LEASE}', now() + interval '${RETENTION}', replace($7, '{seed}', $4))
     on conflict (merchant_id, key) do update set
       request_hash = excluded.request_hash,
       seed = case when known.expires_at <= least(now(), $8) then excluded.seed else known.seed end,
       expires_at = case when known.expires_at <= least(now(), $8) then excluded.expires_at else known.expires_at end,
       holder = excluded.holder,
       instance = excluded.instance,
       leased_until = excluded.leased_until,
       resource_id = replace($7, '{seed}', case when known.expires_at <= least(now(), $8) then excluded.seed else known.seed end),
       status = null, answer = null, sealed = false
     where known.expires_at <= least(now(), $8)
        or (known.status is null and known.request_hash = excluded.request_hash and case
              when known.leased_until <= now() or known.leased_until > now() + interval '${LONGEST_LEASE}' then true
              when known.instance is not null then pg_try_advisory_xact_lock_shared(hashtextextended(known.instance, 1))
              else false end)
     returning seed`,
    values: [
      claim.merchantId,
      claim.key,
      claim.requestHash,
      claim.seed,
      claim.holder,
      claim.instance,
      claim.resource,
      claim.endsBy,
    ],
  });
  return rows[0]?.seed ?? null;
};

export const findRequest = async (
  db: Queryable,
  { merchantId, key }: Pick<Claim, 'merchantId' | 'key'>,
): Promise<StoredRequest | null> => {
  const { rows } = await db.query<StoredRequest>(
    'select request_hash, seed, status, answer, sealed, resource_id from gateway.idempotency_keys where merchant_id = $1 and key = $2',
    [merchantId, key],
  );
  return rows[0] ?? null;
};

/** Whether the order, whose id is derived from an Idempotency-Key, was created while the key is kept. */
export const isOrderCreatedBy = async (db: Queryable, orderId: string, endsBy: Date): Promise<boolean> => {
  const { rowCount } = await db.query(
    `select from orders.api_orders where id = $1 and created_at > least(now(), $2) - interval '${RETENTION}'`,
    [orderId, endsBy],
  );
  return rowCount === 1;
};

/** Stores the response, unless another request has taken the lease. */
export const storeResponse = async (
  db: Queryable,
  { merchantId, key, holder }: Claim,
  response: { status: number; text: string; sealed: boolean },
): Promise<void> => {
  await db.query({
    name: 'store-response',
    text: `update gateway.idempotency_keys set status = $4, answer = $5, sealed = $6, holder = null
            where merchant_id = $1 and key = $2 and holder = $3`,
    values: [merchantId, key, holder, response.status, response.text, response.sealed],
  });
};

/** Releases the lease without a response, so that a retry can start at once. The seed stays: the effect may have
 *  happened. */
export const releaseClaim = async (db: Queryable, { merchantId, key, holder }: Claim): Promise<void> => {
  await db.query(
    `update gateway.idempotency_keys set holder = null, leased_until = now()
      where merchant_id = $1 and key = $2 and holder = $3`,
    [merchantId, key, holder],
  );
};

const BATCH_SIZE = 5_000;

/** Deletes keys that expired by the clocks of PostgreSQL and of this process, in small batches to keep row locks short.
 *  Returns how many were deleted. */
export const deleteExpiredRequests = async (pool: Pool, endsBy: Date): Promise<number> => {
  let deleted = 0;
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from gateway.idempotency_keys where (merchant_id, key) in
         (select merchant_id, key from gateway.idempotency_keys where expires_at <= least(now(), $1) limit ${BATCH_SIZE} for update skip locked)`,
      [endsBy],
    );
    deleted += rowCount ?? 0;
    if (!rowCount) return deleted;
  }
};

/** A PostgreSQL advisory lock with a unique name. Other gateways test the lock to see whether this one is alive:
 *  PostgreSQL releases it when the process ends, or soon after the process freezes. */
export interface InstanceLock {
  /** The name of the lock; null while it is not held. */
  readonly instanceName: () => string | null;
  readonly stop: () => Promise<void>;
}

export const holdInstanceLock = ({ url, log }: { url: string; log: Logger }): InstanceLock => {
  const name = `gateway ${newRequestId()}`;
  let isHeld = false;
  const { stop } = startLeaderElection({
    url,
    role: name,
    log,
    lead: async (signal) => {
      isHeld = true;
      await untilAborted(signal);
      isHeld = false;
    },
  });
  return { instanceName: () => (isHeld ? name : null), stop };
};
