import { setTimeout as sleep } from 'node:timers/promises';
import type { LogPosition } from '@cpg/event-store';
import { transactionOn } from '@cpg/postgres';
import { type Beside, type BesideOptions, ProjectionFault, withTableBeside } from './beside.ts';
import { type Projection, tableOf } from './projection.ts';

// How long writers, and after them readers, may have to wait for a swap that does not come about.
const LOCK_WITHIN_MS = 1_000;
const LAST_EVENTS_WITHIN_MS = 2_000;
const SWAP_TRIES = 30;
const AGAIN_AFTER_MS = 500;

/** Makes a projection anew from the log while it is written and read, and puts it in the place of the live one in one transaction. Whatever
 *  dies on the way, the live table is either the old one, whole, or the new one. Throws ProjectionFault. */
export const rebuild = (options: BesideOptions): Promise<void> =>
  withTableBeside(options, async (beside, signal) => {
    let reached = beside.built;
    for (let attempt = 1; ; attempt += 1) {
      reached = await beside.catchUp(reached, signal);
      try {
        return await swap(options.projection, beside, reached, signal);
      } catch (error) {
        if (attempt === SWAP_TRIES || !isPassing(error)) throw error;
        await sleep(AGAIN_AFTER_MS, undefined, { signal });
      }
    }
  });

/** What was answered before the lock was got is in the log by then, and so in the new table; whoever writes after it waits, finds the new
 *  table under the old name, and is guarded there by revision. */
const swap = (
  projection: Projection,
  beside: Beside,
  reached: LogPosition | null,
  signal: AbortSignal,
): Promise<void> =>
  transactionOn(beside.session, async (db) => {
    const live = tableOf(projection);
    await db.query(`set local lock_timeout = ${LOCK_WITHIN_MS}`);
    await db.query('set local synchronous_commit = on');
    await db.query(`lock table ${live} in share row exclusive mode`);
    await beside.catchUp(reached, AbortSignal.any([signal, AbortSignal.timeout(LAST_EVENTS_WITHIN_MS)]));
    await requireSameShape(projection, beside);
    for (const grant of await grantsOn(beside, live)) await db.query(grant);
    await db.query(`drop table ${live}`);
    await db.query(`alter table ${beside.table} set schema ${projection.schema}`);
  });

const LOCK_TIMEOUT = '55P03';
const DEADLOCK = '40P01';

/** A lock or the last events were not to be had in time. */
const isPassing = (error: unknown): boolean => {
  const { code, name } = error as { code?: string; name?: string };
  return code === LOCK_TIMEOUT || code === DEADLOCK || name === 'TimeoutError';
};

/** A service of another version may have changed the live table meanwhile. */
const requireSameShape = async ({ schema }: Projection, beside: Beside): Promise<void> => {
  const migrations = async (of: string) =>
    (await beside.session.query<{ hash: string }>(`select hash from ${of}.migrations order by number`)).rows;
  const [there, here] = [await migrations(schema), await migrations(beside.schema)];
  if (JSON.stringify(there) === JSON.stringify(here)) return;
  throw new ProjectionFault(`the tables of ${schema} are of another version: rebuild with the version that runs`);
};

/** Who may use the live table, for the new one. */
const grantsOn = async ({ session, table }: Beside, live: string): Promise<string[]> => {
  const { rows } = await session.query<{ statement: string }>(
    `select format('grant %s on %s to %s%s', privilege_type, $2::text, coalesce(quote_ident(role.rolname), 'public'),
                   case when is_grantable then ' with grant option' else '' end) as statement
       from pg_class, aclexplode(relacl) left join pg_roles as role on role.oid = grantee
      where pg_class.oid = $1::regclass and grantee is distinct from relowner`,
    [live, table],
  );
  return rows.map(({ statement }) => statement);
};
