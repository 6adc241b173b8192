import type { Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';

/** Filters out events that the rows of `table` already include. Most are included, because the service that appends an
 *  event also writes the row. `table` has the columns `id` and `revision`; a stream's name is `prefix` followed by the
 *  id. */
export const withoutProjected = async (
  db: Queryable,
  table: string,
  prefix: string,
  events: readonly AllStreamResolvedEvent[],
): Promise<AllStreamResolvedEvent[]> => {
  const idOf = ({ event }: AllStreamResolvedEvent) => event!.streamId.slice(prefix.length);
  const own = events.filter(({ event }) => event!.streamId.startsWith(prefix));
  const { rows } = await db.query<{ id: string; revision: string }>({
    name: `revisions ${table}`,
    text: `select id, revision from ${table} where id = any($1)`,
    values: [[...new Set(own.map(idOf))]],
  });
  const projected = new Map(rows.map(({ id, revision }) => [prefix + id, BigInt(revision)]));
  return events.filter(({ event }) => event!.revision > (projected.get(event!.streamId) ?? -1n));
};
