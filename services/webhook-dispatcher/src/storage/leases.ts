import { type Pool, transaction } from '@cpg/postgres';
import { type Logger, newRequestId } from '@cpg/runtime';

export const LEASE_MS = 6_000;
const RENEW_EVERY_MS = 2_000;
/** A lease is taken for over this much before the database says so, whatever the renewal took on the way. */
const MARGIN_MS = 1_500;

export interface Leases {
  /** Under which name this instance leases now. */
  readonly holder: () => string;
  /** Whether what it leased is still its own. */
  readonly valid: () => boolean;
  /** Renews; frees what instances that are gone had leased. Called by the heartbeat. */
  readonly beat: () => Promise<void>;
  /** Ends this instance: what it leased is free at once. */
  readonly end: () => Promise<void>;
}

export interface LeaseOptions {
  readonly pool: Pool;
  readonly log: Logger;
  readonly leaseMs?: number;
  /** The lease ran out, and others may hold by now what was leased: forget it. Called right before a new name is taken. */
  readonly onLost: () => void;
}

/** Takes part as one instance: a row that is renewed by a heartbeat stands for all that the instance leased. Times are the
 *  database's, so instances need not agree on the clock. */
export const startLeases = async ({ pool, log, leaseMs = LEASE_MS, onLost }: LeaseOptions): Promise<Leases> => {
  let holder = '';
  let validUntil = 0;

  const register = async (forget = () => {}) => {
    const asked = performance.now();
    const name = newRequestId().replace('req_', 'dispatcher_');
    await pool.query(`insert into webhooks.instances (id, expires_at) values ($1, now() + $2 * interval '1 ms')`, [
      name,
      leaseMs,
    ]);
    forget();
    holder = name;
    validUntil = asked + leaseMs - MARGIN_MS;
  };
  const renew = async () => {
    const asked = performance.now();
    const { rowCount } = await pool.query(
      `update webhooks.instances set expires_at = now() + $2 * interval '1 ms' where id = $1 and expires_at > now()`,
      [holder, leaseMs],
    );
    if (rowCount) {
      validUntil = asked + leaseMs - MARGIN_MS;
      return;
    }
    validUntil = 0;
    log.warn({ holder }, 'the lease ran out: starting anew');
    await register(onLost);
  };
  const beat = async () => {
    await renew();
    const freed = await freeOrphans(pool);
    if (freed > 0) log.warn({ freed }, 'took over deliveries of an instance that is gone');
  };

  await register();
  let beating = Promise.resolve();
  const timer = setInterval(
    () => {
      beating = beating
        .then(beat)
        .catch((error: unknown) => log.warn({ err: error }, 'the lease could not be renewed, trying again'));
    },
    Math.min(RENEW_EVERY_MS, leaseMs / 4),
  );
  return {
    holder: () => holder,
    valid: () => performance.now() < validUntil,
    beat,
    end: async () => {
      clearInterval(timer);
      await beating;
      validUntil = 0;
      await pool.query('delete from webhooks.instances where id = $1', [holder]);
      await freeOrphans(pool);
    },
  };
};

/** Frees what is leased by nobody alive. An instance that renews in the same moment keeps its row: the two statements meet on it. */
const freeOrphans = (pool: Pool): Promise<number> =>
  transaction(pool, async (db) => {
    await db.query('delete from webhooks.instances where expires_at <= now()');
    const { rowCount } = await db.query(
      `update webhooks.queue set leased_by = null
       where leased_by is not null and leased_by not in (select id from webhooks.instances)`,
    );
    return rowCount ?? 0;
  });
