import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import type { Queryable } from './pool.ts';

/** The database roles of the services. The file `grants.sql` of each service names them. */
export const SERVICE_ROLES = ['cpg_gateway', 'cpg_orders', 'cpg_payments', 'cpg_webhook_dispatcher'] as const;

/** The file of grants in a folder of migrations. */
export const GRANTS_FILE = 'grants.sql';

/** Gives the roles of the services the privileges on a schema that its file of grants lists, and no others. Does
 *  nothing while none of the roles exists: then one role does everything. Run it in the transaction of the migrations.
 *  Throws ConfigError when only some of the roles exist. */
export const applyGrants = async (
  db: Queryable,
  { schema, folder }: { schema: string; folder: string },
): Promise<boolean> => {
  const file = join(folder, GRANTS_FILE);
  if (!existsSync(file) || !(await hasServiceRoles(db))) return false;
  const roles = SERVICE_ROLES.join(', ');
  await db.query(`revoke all on schema ${schema} from ${roles}`);
  for (const objects of ['tables', 'sequences', 'functions'])
    await db.query(`revoke all on all ${objects} in schema ${schema} from ${roles}`);
  await db.query(`set local search_path to ${schema}`);
  await db.query(await readFile(file, 'utf8'));
  return true;
};

const hasServiceRoles = async (db: Queryable): Promise<boolean> => {
  const { rows } = await db.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = any($1::text[])',
    [SERVICE_ROLES],
  );
  const missing = SERVICE_ROLES.filter((role) => !rows.some(({ name }) => name === role));
  if (rows.length === 0 || missing.length === 0) return rows.length > 0;
  throw new ConfigError(
    `PostgreSQL has the role ${rows[0]!.name}, but not ${missing.join(', ')}: create one role for each service`,
  );
};
