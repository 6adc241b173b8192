import type { Queryable } from '@cpg/platform/postgres';
import type { ChainKind } from './chain-kind.ts';
import type { NodeView } from './chain-source.ts';
import { numberOf } from './reading/transfer-rows.ts';

/** How far a network was read, as the tables say. */
export interface ChainStatus {
  readonly network: string;
  /** The last block that was read; null before reading began. */
  readonly height: number | null;
  readonly hash: string | null;
  readonly tip: number | null;
  /** When everything that the nodes had by then was read. */
  readonly readAt: Date | null;
  /** Why reading stands still. */
  readonly halted: string | null;
  /** Why reading waits although the nodes answer. */
  readonly waiting: string | null;
  /** Why the chain is not current although nodes answer. */
  readonly stalled: string | null;
  /** The last view of each node. */
  readonly nodes: readonly NodeView[];
  readonly rescanFrom: number | null;
  /** Transfers that may still change. */
  readonly open: number;
}

/** In JSON, dates are text. */
type StoredView = Omit<NodeView, 'time' | 'seenAt'> & { readonly time: string; readonly seenAt: string };

interface Row {
  readonly network: string;
  readonly height: string | null;
  readonly hash: string | null;
  readonly tip: string | null;
  readonly read_at: Date | null;
  readonly halted: string | null;
  readonly waiting: string | null;
  readonly stalled: string | null;
  readonly nodes: readonly StoredView[] | null;
  readonly rescan_from: string | null;
  readonly open: string;
}

export const chainStatuses = async (db: Queryable): Promise<ChainStatus[]> => {
  const { rows } = await db.query<Row>(
    `select cursor.*, (select count(*) from payments.chain_transfers as transfer
       where transfer.network = cursor.network and transfer.open) as open
     from payments.chain_cursors as cursor order by cursor.network`,
  );
  return rows.map((row) => ({
    network: row.network,
    height: numberOf(row.height),
    hash: row.hash,
    tip: numberOf(row.tip),
    readAt: row.read_at,
    halted: row.halted,
    waiting: row.waiting,
    stalled: row.stalled,
    nodes: (row.nodes ?? []).map(({ time, seenAt, ...view }) => ({
      ...view,
      time: new Date(time),
      seenAt: new Date(seenAt),
    })),
    rescanFrom: numberOf(row.rescan_from),
    open: Number(row.open),
  }));
};

/** The height of the newest block that a network is known to have; null before it is read. */
export const heightOf = async (db: Queryable, network: string): Promise<number | null> => {
  const { rows } = await db.query<{ height: string | null }>(
    'select greatest(height, tip) as height from payments.chain_cursors where network = $1 and height is not null',
    [network],
  );
  return rows[0]?.height == null ? null : Number(rows[0].height);
};

/** Asks the process that reads a halted network to accept the chain that the nodes show now, from a height on. */
export const requestNewChain = async (db: Queryable, network: string, from: number): Promise<void> => {
  await db.query(
    `insert into payments.chain_cursors (network, rescan_from) values ($1, $2)
     on conflict (network) do update set rescan_from = excluded.rescan_from`,
    [network, from],
  );
};

/** When a node last showed the tip; null if no node did. */
export const tipSeenAt = ({ nodes }: Pick<ChainStatus, 'nodes'>): Date | null =>
  nodes.reduce<Date | null>(
    (latest, { seenAt, isUsed }) => (isUsed && (!latest || seenAt > latest) ? seenAt : latest),
    null,
  );

/** For `/health/ready`: how far each watched network was read. */
export const chainDetails = async (db: Queryable, networks: readonly string[]): Promise<Record<string, object>> => {
  const statuses = await chainStatuses(db);
  return Object.fromEntries(
    networks.map((network) => {
      const status = statuses.find((each) => each.network === network);
      const { height = null, tip = null, readAt, halted, stalled, waiting, nodes = [] } = status ?? {};
      const seenAt = tipSeenAt({ nodes });
      const detail = {
        height,
        tip,
        ...(seenAt && { tip_seen_at: seenAt.toISOString() }),
        read_at: readAt?.toISOString() ?? null,
        ...(halted && { halted }),
        ...(stalled && { stalled }),
        ...(waiting && { waiting }),
      };
      return [network, detail];
    }),
  );
};

/** Whether a network was read past an instant, and what it showed by then at some addresses was reported. */
type ReadStatus = 'unread' | 'unreported' | 'reported';

export type ReadStatusOf = (network: string, at: Date, addresses: readonly string[]) => Promise<ReadStatus>;

interface ReadStatusRow {
  readonly time: Date | null;
  readonly read_at: Date | null;
  readonly has_unreported: boolean;
}

/** A network that nobody watches has nothing to report. `kinds` has those that are watched. */
export const readStatusOf =
  (db: Queryable, kinds: ReadonlyMap<string, ChainKind>): ReadStatusOf =>
  async (network, at, addresses) => {
    const kind = kinds.get(network);
    if (!kind) return 'reported';
    const { rows } = await db.query<ReadStatusRow>({
      name: 'chain-read-status',
      text: `select time, read_at, exists (
               select from payments.chain_transfers as transfer
               where transfer.network = $1 and open and (reported is null or pending is not null) and seen_at <= $2
                 and address = any($3)
             ) as has_unreported
             from payments.chain_cursors as cursor where cursor.network = $1`,
      values: [network, at, addresses],
    });
    const [row] = rows;
    if (!row) return 'unread';
    // A later block can have an earlier time where miners choose it, so there only the clock counts.
    const isTimePast = kind.hasOrderedTimes && row.time !== null && row.time > at;
    const isRead = isTimePast || (row.read_at !== null && row.read_at.getTime() >= at.getTime() + kind.settleMs);
    if (!isRead) return 'unread';
    return row.has_unreported ? 'unreported' : 'reported';
  };
