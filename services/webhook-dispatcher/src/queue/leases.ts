import { type Pool, transaction } from '@cpg/platform/postgres';
import { type Logger, newRequestId } from '@cpg/platform';
import { queueRowsLockedWhere } from './queue-table.ts';

const LEASE_MS = 6_000;
const RENEW_EVERY_MS = 2_000;
/** This instance treats its lease as expired this much earlier than the database does, however long the renewal
 *  took. */
const MARGIN_MS = 1_500;

/** The lease of one instance: a row renewed by a heartbeat, which covers everything that the instance has leased. */
export interface Leases {
  /** The id under which this instance leases now. */
  readonly holder: () => string;
  readonly isValid: () => boolean;
  /** Renews the lease, and frees what expired instances had leased. Runs on a timer; tests call it too. */
  readonly heartbeat: () => Promise<void>;
  /** Ends the lease: everything still leased is free at once. */
  readonly end: () => Promise<void>;
}

export interface LeaseOptions {
  readonly pool: Pool;
  readonly log: Logger;
  readonly leaseMs?: number;
  /** The lease expired, and other instances may have leased its deliveries. Called right before a new id is taken. */
  readonly onLost: () => void;
}

/** A lease that ends later was taken while the clock of the database ran ahead. */
export const LONGEST_LEASE = '1 minute';

/** Registers this instance and keeps its lease alive. Expiry is decided by the database's clock, so the instances'
 *  clocks may differ. */
export const startLeases = async ({ pool, log, leaseMs = LEASE_MS, onLost }: LeaseOptions): Promise<Leases> => {
  let holder = '';
  let validUntil = 0;

  const register = async (onRegistered = () => {}) => {
    const startedAt = performance.now();
    const id = newRequestId().replace('req_', 'dispatcher_');
    await pool.query(`insert into webhooks.instances (id, expires_at) values ($1, now() + $2 * interval '1 ms')`, [
      id,
      leaseMs,
    ]);
    onRegistered();
    holder = id;
    validUntil = startedAt + leaseMs - MARGIN_MS;
  };
  const renew = async () => {
    const startedAt = performance.now();
    const { rowCount } = await pool.query(
      `update webhooks.instances set expires_at = now() + $2 * interval '1 ms' where id = $1 and expires_at > now()
         and expires_at <= now() + interval '${LONGEST_LEASE}'`,
      [holder, leaseMs],
    );
    if (rowCount) {
      validUntil = startedAt + leaseMs - MARGIN_MS;
      return;
    }
    validUntil = 0;
    log.warn({ holder }, 'lease expired, registering under a new id');
    await register(onLost);
  };
  const heartbeat = async () => {
    await renew();
    const freed = await freeOrphans(pool);
    if (freed > 0) log.warn({ freed }, 'freed deliveries of expired instances');
  };

  await register();
  let last: Promise<void> = Promise.resolve();
  const timer = setInterval(
    () => {
      last = last
        .then(heartbeat)
        .catch((error: unknown) => log.warn({ err: error }, 'renewing the lease failed, will retry'));
    },
    Math.min(RENEW_EVERY_MS, leaseMs / 4),
  );
  return {
    holder: () => holder,
    isValid: () => performance.now() < validUntil,
    heartbeat,
    end: async () => {
      clearInterval(timer);
      await last;
      validUntil = 0;
      await pool.query('delete from webhooks.instances where id = $1', [holder]);
      await freeOrphans(pool);
    },
  };
};

/** Frees what expired instances had leased. The delete locks their rows, so an instance that renews at the same moment
 *  either keeps its row or sees that its lease expired. */
const freeOrphans = (pool: Pool): Promise<number> =>
  transaction(pool, async (db) => {
    await db.query(
      `delete from webhooks.instances where expires_at <= now() or expires_at > now() + interval '${LONGEST_LEASE}'`,
    );
    const { rowCount } = await db.query(
      `update ${queueRowsLockedWhere(
        'leased_by is not null and leased_by not in (select id from webhooks.instances)',
        'set leased_by = null',
      )}`,
    );
    return rowCount ?? 0;
  });

/** Runs the changes of this instance's leases one at a time, in the order in which they were requested.
 *  After a failed change it is unknown whether the database made it. `releaseUnknown`, which releases leases that are
 *  in the database but not in memory, then runs before the next change. So every lease in the database is also in
 *  memory, which the order of first attempts relies on. A statement that timed out here may still run later:
 *  `releaseUnknown` also runs every `everyMs`. */
export const createLeaseChanges = (releaseUnknown: () => Promise<void>, everyMs = LEASE_MS) => {
  let last: Promise<unknown> = Promise.resolve();
  let hasFailed = false;
  let reconciledAt = performance.now();

  const run = async <T>(change: () => Promise<T>): Promise<T> => {
    try {
      if (hasFailed || performance.now() - reconciledAt >= everyMs) {
        await releaseUnknown();
        reconciledAt = performance.now();
      }
      hasFailed = false;
      return await change();
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  const exclusively = <T>(change: () => Promise<T>): Promise<T> => {
    const done = last.then(() => run(change));
    last = done.catch(() => {});
    return done;
  };
  return {
    exclusively,
    /** Releases unknown leases if that is due, and waits for the changes requested before. */
    reconcile: () => exclusively(async () => {}),
  };
};

export type LeaseChanges = ReturnType<typeof createLeaseChanges>;
