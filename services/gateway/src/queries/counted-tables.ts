import type { Queryable } from '@cpg/postgres';

export const DELIVERIES = 'webhooks.deliveries';

const counted = new WeakMap<Queryable, Set<string>>();

/** Whether triggers keep all counts of a table. Never becomes false again.
 *  Tables of an earlier version are counted once their service has rebuilt them. */
export const isCounted = async (db: Queryable, table: string): Promise<boolean> => {
  const known = counted.get(db) ?? new Set<string>();
  counted.set(db, known);
  if (known.has(table)) return true;
  const { rowCount } = await db.query(
    `select from pg_trigger join pg_proc on pg_proc.oid = tgfoid
      where tgrelid = to_regclass($1) and tgname = 'count_inserted' and proname like $2`,
    [table, table === DELIVERIES ? '%' : '%\\_with\\_totals\\_in\\_5\\_spans'],
  );
  const isComplete = rowCount === 1 && (table !== DELIVERIES || (await hasAllDaysCounted(db)));
  if (isComplete) known.add(table);
  return isComplete;
};

/** The dispatcher counts deliveries that are older than the triggers in the background, day by day. */
const hasAllDaysCounted = async (db: Queryable): Promise<boolean> =>
  (await db.query('select from webhooks.uncounted_days limit 1')).rowCount === 0;
