import { type Pool, transaction } from '@cpg/postgres';

/** Days for which rows are kept. */
export interface Retention {
  /** Deliveries and their attempts. */
  readonly metadataDays: number;
  readonly bodyDays: number;
}

export const DEFAULT_RETENTION: Retention = { metadataDays: 90, bodyDays: 30 };

const DAY_MS = 86_400_000;
const DAYS_AHEAD = 2;
const LOCK = "select pg_advisory_xact_lock(hashtextextended('webhooks partitions', 0))";
// A partition comes or goes under a lock on its whole table: better late than holding up deliveries behind a long query.
const BRIEFLY = "set local lock_timeout = '2s'";

// Rows of deliveries change once or twice: the space left on a page keeps the new version beside the old one.
// Bodies stay beside their row up to the size of a page.
const TABLES = {
  events: 'toast_tuple_target = 8160',
  deliveries: 'fillfactor = 70',
  attempts: 'fillfactor = 100',
} as const;

type Table = keyof typeof TABLES;

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const daysFrom = (day: string, days: number): string => dayOf(new Date(Date.parse(day) + days * DAY_MS));

/** The first day whose bodies are still kept. */
export const firstBodyDay = (now: Date, { bodyDays }: Retention): string => daysFrom(dayOf(now), -bodyDays);

/** The first day whose bodies are kept for half of their time more: longer than attempts go on, unless the operator keeps them briefly. */
export const firstLastingDay = (now: Date, { bodyDays }: Retention): string =>
  daysFrom(dayOf(now), -Math.floor(bodyDays / 2));

/** Makes partitions, those of today and the next days ahead of need. Remembers what is there. */
export const createPartitions = (pool: Pool, { now, retention }: { now: () => Date; retention: Retention }) => {
  const there = new Set<string>();
  const ensure = async (days: Iterable<string>): Promise<void> => {
    const missing = [...new Set(days)].filter((day) => !there.has(day));
    if (missing.length === 0) return;
    await transaction(pool, async (db) => {
      await db.query(LOCK);
      await db.query(BRIEFLY);
      for (const day of missing) {
        for (const [table, settings] of Object.entries(TABLES) as [Table, string][]) {
          await db.query(
            `create table if not exists webhooks.${partitionOf(table, day)} partition of webhooks.${table}
             for values from ('${day}') to ('${daysFrom(day, 1)}') with (${settings})`,
          );
        }
      }
    });
    for (const day of missing) there.add(day);
  };
  return {
    ensure,
    ensureAhead: () => ensure(Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => daysFrom(dayOf(now()), days))),
    /** Drops what is older than retention allows. Returns the names of the partitions. */
    dropOld: async (): Promise<string[]> => {
      const oldest = {
        events: firstBodyDay(now(), retention),
        deliveries: daysFrom(dayOf(now()), -retention.metadataDays),
        attempts: daysFrom(dayOf(now()), -retention.metadataDays),
      };
      const dropped = (await partitionsOf(pool)).filter(({ table, name }) => name < partitionOf(table, oldest[table]));
      for (const { name } of dropped) {
        await transaction(pool, async (db) => {
          await db.query(LOCK);
          await db.query(BRIEFLY);
          await db.query(`drop table if exists webhooks.${name}`);
        });
        there.delete(dayIn(name));
      }
      return dropped.map(({ name }) => name);
    },
  };
};

export type Partitions = ReturnType<typeof createPartitions>;

/** `deliveries_20260131`; names of one table sort by day. */
export const partitionOf = (table: Table, day: string): string => `${table}_${day.replaceAll('-', '')}`;

const dayIn = (name: string): string => name.slice(-8).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3');

const partitionsOf = async (pool: Pool) => {
  const { rows } = await pool.query<{ table: Table; name: string }>(
    `select parent.relname as table, child.relname as name
     from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class child on child.oid = inhrelid
     where parent.relnamespace = 'webhooks'::regnamespace and parent.relkind = 'p' and child.relkind = 'r'
     order by child.relname`,
  );
  return rows;
};
