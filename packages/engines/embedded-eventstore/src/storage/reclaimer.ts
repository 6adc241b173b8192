import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface ReclaimerOptions {
  readonly databaseUrl: string;
  readonly log: (line: string) => void;
  /** The position of the last event. Throws while it is unknown. */
  readonly head: () => bigint;
  /** How long to collect removals before their space is reclaimed, in ms. */
  readonly delayMs?: number | undefined;
}

const DELAY_MS = 30_000;
/** Up to this size the whole table is rewritten, which locks it for up to a second. */
const MAX_REWRITE_BYTES = 64 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5_000;
// Reads and appends queue behind a vacuum that waits for its lock.
const LOCK_TIMEOUT_MS = 200;
const MAX_WAIT_MS = 30_000;
const POLL_MS = 50;
const INSUFFICIENT_PRIVILEGE = '42501';

/** Reclaims the disk space of removed events: PostgreSQL keeps the bytes of deleted rows until a vacuum, and its own
 *  vacuum waits for many more of them. While events are appended, the space becomes free for later events, and nothing
 *  is locked. The table is rewritten once nothing was appended for the delay. */
export class Reclaimer {
  readonly #options: ReclaimerOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  #isDue = false;
  #session: pg.Client | null = null;

  constructor(options: ReclaimerOptions) {
    this.#options = options;
  }

  /** Reclaims the space of removals until now, after a delay. Repeats it later if it fails. */
  schedule(): void {
    this.#isDue = true;
    this.#running ??= this.#run();
  }

  /** Ends at once; what is left is done after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    // pg's own end() waits for the vacuum.
    (this.#session as unknown as { connection: pg.Connection } | null)?.connection.stream.destroy();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.#isDue) {
      const headBefore = this.#head();
      await sleep(this.#options.delayMs ?? DELAY_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      this.#isDue = false; // a removal during the run may come too late for it
      try {
        if (await this.#reclaim(headBefore !== null && headBefore === this.#head())) continue;
      } catch (error) {
        if (!signal.aborted) this.#options.log(`could not reclaim disk space: ${(error as Error).message}`);
      }
      this.#isDue = true;
    }
    this.#running = null;
  }

  #head(): bigint | null {
    try {
      return this.#options.head();
    } catch {
      return null;
    }
  }

  /** Resolves to whether nothing is left to do. */
  async #reclaim(isIdle: boolean): Promise<boolean> {
    const session = new pg.Client({
      connectionString: this.#options.databaseUrl,
      application_name: 'embedded-eventstore vacuum',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      options: `-c lock_timeout=${LOCK_TIMEOUT_MS}`,
    });
    session.on('error', () => {}); // the query fails with it
    this.#session = session;
    try {
      await session.connect();
      const { rows } = await session.query<{ removed: string; due: boolean; bytes: string; end: string }>(
        `select removed, removed > reclaimed as due, pg_total_relation_size('eventstore.event') as bytes,
                pg_snapshot_xmax(pg_current_snapshot()) as end
           from eventstore.removal`,
      );
      const { removed, due, bytes, end } = rows[0]!;
      if (!due) return true;
      if (!(await this.#olderTransactionsEnd(session, end))) return false;
      const isSmall = Number(bytes) <= MAX_REWRITE_BYTES;
      await session.query(`vacuum ${isSmall && isIdle ? '(full)' : ''} eventstore.event`);
      if (isSmall && !isIdle) return false;
      await dropOlderLog(session);
      const { rowCount } = await session.query('update eventstore.removal set reclaimed = $1 where removed = $1', [
        removed,
      ]);
      return rowCount === 1;
    } finally {
      this.#session = null;
      await session.end().catch(() => {});
    }
  }

  /** Waits for the transactions that began before the transaction `end`: a vacuum keeps rows that they may still see.
   *  A running transaction of another database counts too, because it holds back the snapshots of this one. Resolves
   *  to false when one runs for long. */
  async #olderTransactionsEnd(session: pg.Client, end: string): Promise<boolean> {
    const giveUpAt = performance.now() + MAX_WAIT_MS;
    while (performance.now() < giveUpAt) {
      const { rowCount } = await session.query(
        `select where pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 and not exists (
           select from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and age(backend_xmin) > age($1::xid8::xid))`,
        [end],
      );
      if (rowCount === 1) return true;
      await sleep(POLL_MS, undefined, { signal: this.#stopping.signal });
    }
    return false;
  }
}

/** Lets PostgreSQL drop the older write-ahead log, which has the events too. Only a superuser may. */
const dropOlderLog = async (session: pg.Client): Promise<void> => {
  try {
    await session.query('select pg_switch_wal()');
    await session.query('checkpoint');
  } catch (error) {
    if ((error as pg.DatabaseError).code !== INSUFFICIENT_PRIVILEGE) throw error;
  }
};
