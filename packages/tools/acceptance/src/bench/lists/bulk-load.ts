import pg from 'pg';

/** A table to fill. Its partitions, if it has any, are those that exist then. */
export interface BulkTable {
  readonly name: string;
  /** Each statement inserts some of the rows. They run in about this order. */
  readonly inserts: readonly Insert[];
}

interface Insert {
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** As many as the benchmark's machine has cores. */
const CONNECTIONS = 2;

/** Fills tables without a write-ahead log, without triggers, and with their indexes built afterwards. All of that only
 *  changes how long this takes: rows, indexes and statistics are the same. */
export const bulkLoad = async (databaseUrl: string, tables: readonly BulkTable[]): Promise<void> => {
  await withConnections(databaseUrl, async (onEach) => {
    const indexes: string[][] = [];
    for (const { name } of tables) await onEach([(db) => skipLog(db, name)]);
    for (const { name } of tables) await onEach([async (db) => void indexes.push(await dropIndexes(db, name))]);
    const longest = Math.max(...tables.map(({ inserts }) => inserts.length));
    await onEach(
      Array.from({ length: longest }, (_, n) => tables.flatMap(({ inserts }) => inserts[n] ?? []))
        .flat()
        .map(
          ({ text, values }) =>
            async (db) =>
              void (await db.query(text, values && [...values])),
        ),
    );
    // Before the indexes, so that it reads and writes each page of the table once.
    await onEach(
      tables.map(
        ({ name }) =>
          async (db) =>
            void (await db.query(`vacuum (freeze, analyze) ${name}`)),
      ),
    );
    await onEach(indexes.flat().map((definition) => async (db) => void (await db.query(definition))));
  });
};

type Work = (db: pg.Client) => Promise<void>;
/** Does all of the work, on each connection one after another. */
type OnEach = (works: readonly Work[]) => Promise<void>;

const withConnections = async (databaseUrl: string, work: (onEach: OnEach) => Promise<void>): Promise<void> => {
  const connections = Array.from({ length: CONNECTIONS }, () => new pg.Client({ connectionString: databaseUrl }));
  try {
    for (const db of connections) {
      await db.connect();
      await db.query(`set synchronous_commit = off; set session_replication_role = replica; set jit = off;
        set work_mem = '512MB'; set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 0`);
    }
    await work(async (works) => {
      const left = [...works];
      await Promise.all(
        connections.map(async (db) => {
          for (let next = left.shift(); next; next = left.shift()) await next(db);
        }),
      );
    });
  } finally {
    await Promise.all(connections.map((db) => db.end()));
  }
};

/** A crash would empty these tables. The benchmark starts over then. */
const skipLog = async (db: pg.Client, table: string): Promise<void> => {
  const { rows } = await db.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r'
     and (oid = $1::regclass or oid in (select inhrelid from pg_inherits where inhparent = $1::regclass))`,
    [table],
  );
  for (const { name } of rows) await db.query(`alter table ${name} set unlogged`);
};

/** Returns the statements that make them again. Indexes on what services look for all the time stay: no row is in them. */
const dropIndexes = async (db: pg.Client, table: string): Promise<string[]> => {
  const { rows } = await db.query<{ drop: string; create: string }>(
    `select case when con.oid is null then 'drop index ' || idx.indexrelid::regclass
         else format('alter table %s drop constraint %I', idx.indrelid::regclass, con.conname) end as drop,
       case when con.oid is null then replace(pg_get_indexdef(idx.indexrelid), ' ON ONLY ', ' ON ')
         else format('alter table %s add constraint %I %s', idx.indrelid::regclass, con.conname, pg_get_constraintdef(con.oid)) end as create
     from pg_index idx left join pg_constraint con on con.conindid = idx.indexrelid and con.contype in ('p', 'u')
     where idx.indrelid = $1::regclass and pg_get_indexdef(idx.indexrelid) not like '%due_at IS NOT NULL%'`,
    [table],
  );
  for (const { drop } of rows) await db.query(drop);
  return rows.map(({ create }) => create);
};
