import type { Pool, Queryable } from '@cpg/postgres';

export interface Claim {
  readonly merchantId: string;
  readonly key: string;
  readonly requestHash: string;
  readonly seed: string;
  /** Who works on it: no two requests have the same. */
  readonly holder: string;
  /** The gateway it is in, by the name of its presence. */
  readonly instance: string | null;
}

export interface KnownRequest {
  readonly request_hash: string;
  readonly status: number | null;
  readonly answer: string | null;
  readonly sealed: boolean;
}

const KEPT_FOR = '24 hours';
/** Longer than any request runs. Were one to run longer, the repeat would make the same ids. */
const LEASE = '30 seconds';

/** Takes up a request: one that is new, whose 24 hours are over, or that nobody works on any more: its lease is over, or its gateway dead. Gives the seed to work with, the
 *  one that was reserved first, or null when the key is taken by another request, a running one, or an answer. */
export const claimRequest = async (db: Queryable, claim: Claim): Promise<string | null> => {
  const { rows } = await db.query<{ seed: string }>({
    name: 'claim-request',
    text: `insert into gateway.idempotency_keys as known
       (merchant_id, key, request_hash, seed, holder, instance, leased_until, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + interval '${LEASE}', now() + interval '${KEPT_FOR}')
     on conflict (merchant_id, key) do update set
       request_hash = excluded.request_hash,
       seed = case when known.expires_at <= now() then excluded.seed else known.seed end,
       expires_at = case when known.expires_at <= now() then excluded.expires_at else known.expires_at end,
       holder = excluded.holder,
       instance = excluded.instance,
       leased_until = excluded.leased_until,
       status = null, answer = null, sealed = false
     where known.expires_at <= now()
        or (known.status is null and known.request_hash = excluded.request_hash and case
              when known.leased_until <= now() then true
              when known.instance is not null then pg_try_advisory_xact_lock_shared(hashtextextended(known.instance, 1))
              else false end)
     returning seed`,
    values: [claim.merchantId, claim.key, claim.requestHash, claim.seed, claim.holder, claim.instance],
  });
  return rows[0]?.seed ?? null;
};

export const knownRequest = async (
  db: Queryable,
  { merchantId, key }: Pick<Claim, 'merchantId' | 'key'>,
): Promise<KnownRequest | null> => {
  const { rows } = await db.query<KnownRequest>(
    'select request_hash, status, answer, sealed from gateway.idempotency_keys where merchant_id = $1 and key = $2',
    [merchantId, key],
  );
  return rows[0] ?? null;
};

/** Keeps the answer, unless somebody else has taken the request up since. */
export const keepAnswer = async (
  db: Queryable,
  { merchantId, key, holder }: Claim,
  answer: { status: number; text: string; sealed: boolean },
): Promise<void> => {
  await db.query({
    name: 'keep-answer',
    text: `update gateway.idempotency_keys set status = $4, answer = $5, sealed = $6, holder = null
            where merchant_id = $1 and key = $2 and holder = $3`,
    values: [merchantId, key, holder, answer.status, answer.text, answer.sealed],
  });
};

/** Lets a request go without an answer: it may be sent again at once. The seed stays, for its effect may be there. */
export const releaseRequest = async (db: Queryable, { merchantId, key, holder }: Claim): Promise<void> => {
  await db.query(
    `update gateway.idempotency_keys set holder = null, leased_until = now()
      where merchant_id = $1 and key = $2 and holder = $3`,
    [merchantId, key, holder],
  );
};

const CHUNK = 5_000;

/** Forgets the keys whose 24 hours are over, so many at a time that nobody waits for it. */
export const forgetExpiredRequests = async (pool: Pool): Promise<number> => {
  let forgotten = 0;
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from gateway.idempotency_keys where (merchant_id, key) in
         (select merchant_id, key from gateway.idempotency_keys where expires_at <= now() limit ${CHUNK} for update skip locked)`,
    );
    forgotten += rowCount ?? 0;
    if (!rowCount) return forgotten;
  }
};
