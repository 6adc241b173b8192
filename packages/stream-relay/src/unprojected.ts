import type { Queryable } from '@cpg/postgres';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';

/** The events that the rows of a table do not show yet. Nearly all are shown: the service that appended them wrote the row. `table` has
 *  the columns `id` and `revision`, and its streams are called `prefix` and the id. */
export const unprojected = async (
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
  const shown = new Map(rows.map(({ id, revision }) => [prefix + id, BigInt(revision)]));
  return events.filter(({ event }) => event!.revision > (shown.get(event!.streamId) ?? -1n));
};
