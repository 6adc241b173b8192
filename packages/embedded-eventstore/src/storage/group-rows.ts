import type { ClientBase } from 'pg';
import type { GroupSettings } from '../persistent/settings.ts';

/** Name of the log as the source of a group, instead of a stream's. */
export const ALL = '$all';

/** A group of consumers and how far it has come. */
export interface GroupRow {
  /** A stream, or ALL. */
  readonly source: string;
  readonly name: string;
  readonly settings: GroupSettings;
  /** Revision or position after which the group began. */
  readonly start: bigint;
  /** Up to where everything is finished; null while that is nothing. */
  readonly checkpoint: bigint | null;
}

type Key = Pick<GroupRow, 'source' | 'name'>;

const TABLE = 'eventstore.persistent_subscription';

export const loadGroups = async (client: ClientBase): Promise<GroupRow[]> => {
  const { rows } = await client.query<{
    source: string;
    name: string;
    settings: StoredSettings;
    start: string;
    checkpoint: string | null;
  }>(`select source, name, settings, start, checkpoint from ${TABLE}`);
  return rows.map(({ source, name, settings, start, checkpoint }) => ({
    source,
    name,
    settings: restored(settings),
    start: BigInt(start),
    checkpoint: checkpoint === null ? null : BigInt(checkpoint),
  }));
};

/** Stores the group as it is, in place of what it was. */
export const saveGroup = async (client: ClientBase, row: GroupRow): Promise<void> => {
  await client.query(
    `insert into ${TABLE} (source, name, settings, start, checkpoint) values ($1, $2, $3, $4, $5)
     on conflict (source, name) do update set settings = excluded.settings, start = excluded.start,
                                              checkpoint = excluded.checkpoint`,
    [row.source, row.name, stored(row.settings), row.start, row.checkpoint],
  );
};

export const saveCheckpoint = async (client: ClientBase, { source, name }: Key, place: bigint): Promise<void> => {
  await client.query(`update ${TABLE} set checkpoint = $3 where source = $1 and name = $2`, [source, name, place]);
};

export const deleteGroup = async (client: ClientBase, { source, name }: Key): Promise<void> => {
  await client.query(`delete from ${TABLE} where source = $1 and name = $2`, [source, name]);
};

/** JSON has no bigint. */
type StoredSettings = Omit<GroupSettings, 'startFrom'> & { readonly startFrom: string };

const stored = (settings: GroupSettings): string =>
  JSON.stringify({ ...settings, startFrom: String(settings.startFrom) } satisfies StoredSettings);

const restored = ({ startFrom, ...settings }: StoredSettings): GroupSettings => ({
  ...settings,
  startFrom: startFrom === 'start' || startFrom === 'end' ? startFrom : BigInt(startFrom),
});
