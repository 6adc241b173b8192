import { type Pool, type Queryable, transaction, withoutTimeout } from '@cpg/platform/postgres';

/** How many days rows are kept. */
export interface Retention {
  /** Deliveries and their attempts. */
  readonly metadataDays: number;
  /** The bodies of deliveries: at most `metadataDays`. */
  readonly bodyDays: number;
}

export const DEFAULT_RETENTION: Retention = { metadataDays: 90, bodyDays: 30 };

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 2;
const LOCK = "select pg_advisory_xact_lock(hashtextextended('webhooks partitions', 0))";
// Creating or dropping a partition locks its whole table: fail soon and retry rather than block deliveries behind a
// long query.
const SHORT_LOCK_TIMEOUT = "set local lock_timeout = '2s'";

const TABLES = ['events', 'deliveries', 'attempts'] as const;

type Table = (typeof TABLES)[number];

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const daysFrom = (day: string, days: number): string => dayOf(new Date(Date.parse(day) + days * DAY_MS));

/** The oldest day whose bodies are stored. */
export const firstBodyDay = (now: Date, { bodyDays }: Retention): string => daysFrom(dayOf(now), -bodyDays);

/** The oldest day whose bodies stay stored for at least half of their retention, which is longer than the retry
 *  schedule by default. */
export const firstLastingDay = (now: Date, { bodyDays }: Retention): string =>
  daysFrom(dayOf(now), -Math.floor(bodyDays / 2));

export interface PartitionsOptions {
  readonly now: () => Date;
  /** The time by which retention ends: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  readonly retention: Retention;
}

/** Creates and drops the daily partitions. Caches which ones exist. */
export const createPartitions = (pool: Pool, { now, endsBy, retention }: PartitionsOptions) => {
  const existing = new Set<string>();
  const ensure = async (days: Iterable<string>): Promise<void> => {
    const missing = [...new Set(days)].filter((day) => !existing.has(day));
    if (missing.length === 0) return;
    for (const day of missing) {
      for (const table of TABLES) {
        // A transaction of its own: while it holds the lock of one table, it must not wait for another one.
        await transaction(pool, async (db) => {
          await db.query(LOCK);
          await db.query(SHORT_LOCK_TIMEOUT);
          await db.query('select webhooks.create_partition($1, $2)', [table, day]);
        });
      }
      existing.add(day);
    }
  };
  return {
    ensure,
    /** Creates the partitions of today and the next days. */
    ensureAhead: () => ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => daysFrom(dayOf(now()), days))),
    /** Drops partitions past their retention, and returns their names. Those of deliveries that wait for their first
     *  attempt stay, because a stop may outlast the retention. */
    dropOld: async (): Promise<string[]> => {
      const oldest = {
        events: firstBodyDay(endsBy(), retention),
        deliveries: daysFrom(dayOf(endsBy()), -retention.metadataDays),
        attempts: daysFrom(dayOf(endsBy()), -retention.metadataDays),
      };
      const old = (await partitionsOf(pool)).filter(({ table, name }) => name < partitionOf(table, oldest[table]));
      const unsent = old.length > 0 ? await firstUnsentDay(pool) : null;
      const dropped = old.filter(({ table, name }) => unsent === null || name < partitionOf(table, unsent));
      for (const { table, name } of dropped) {
        await transaction(pool, async (db) => {
          await db.query(LOCK);
          await db.query(SHORT_LOCK_TIMEOUT);
          const drop = () => db.query('select webhooks.drop_partition($1, $2)', [table, dayIn(name)]);
          await (table === 'deliveries' ? removeCountsBefore(db, daysFrom(dayIn(name), 1), drop) : drop());
        });
        existing.delete(dayIn(name));
      }
      return dropped.map(({ name }) => name);
    },
  };
};

export type Partitions = ReturnType<typeof createPartitions>;

/** `deliveries_20260131`; names of one table sort by day. */
export const partitionOf = (table: Table, day: string): string => `${table}_${day.replaceAll('-', '')}`;

const dayIn = (name: string): string => name.slice(-8).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3');

const firstUnsentDay = async (pool: Pool): Promise<string | null> => {
  const { rows } = await pool.query<{ day: string | null }>(
    'select min(day)::text as day from webhooks.queue where attempts = 0',
  );
  return rows[0]!.day;
};

const partitionsOf = async (pool: Pool) => {
  const { rows } = await pool.query<{ table: Table; name: string }>(
    `select parent.relname as table, child.relname as name
     from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class child on child.oid = inhrelid
     where parent.relnamespace = 'webhooks'::regnamespace and parent.relkind = 'p' and child.relkind = 'r'
     order by child.relname`,
  );
  return rows;
};

/** Removes the counts of days before `oldestDay`. `drop` drops their partitions meanwhile: between the counts, of which
 *  there are many, and the changes that the last statements before the drop made. Runs in a transaction. */
export const removeCountsBefore = async (
  db: Queryable,
  oldestDay: string,
  drop: () => Promise<unknown>,
): Promise<void> => {
  await db.query('set local statement_timeout = 0');
  // No change of these days is moved meanwhile.
  await db.query("select pg_advisory_xact_lock('webhooks.delivery_count_spans'::regclass::bigint)");
  const remove = (table: string) =>
    db.query(withoutTimeout(`delete from webhooks.${table} where day < $1`, [oldestDay]));
  await remove('delivery_count_spans');
  await drop();
  await remove('delivery_count_changes');
  await remove('uncounted_days');
};
