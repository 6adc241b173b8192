import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import type { timesOfBlocks } from '../nodes/agreement.ts';
import type { ChainChange, ChainStore, ReadBlock, ReportChange, StoredChain } from './chain-store.ts';
import { readOpenTransfers, readTransfers, upsertTransfers } from './transfer-rows.ts';

interface CursorRow {
  readonly genesis: string | null;
  readonly height: string;
  readonly hash: string;
  readonly time: Date | null;
  readonly rescan_from: string | null;
  readonly read_at: Date | null;
  readonly halted: string | null;
  readonly stalled: string | null;
  readonly rechecked: string | null;
}

type BlockRow = Pick<CursorRow, 'height' | 'hash' | 'time'> & { readonly nodes: number[] };

/** The progress and the transfers of a network, in PostgreSQL. `windowBlocks` hashes are kept. `times` are for
 *  comparing clocks. */
export const chainTables = (
  pool: Pool,
  network: string,
  windowBlocks: number,
  times: ReturnType<typeof timesOfBlocks> = null,
): ChainStore => {
  const transfers = (name: string, condition: string, ...values: unknown[]) =>
    readTransfers(pool, network, name, condition, values);
  const apply = (
    from: ReadBlock | null,
    { cursor, transfers: changed }: ChainChange,
    lowest: number,
    moveCursor: (db: Queryable) => Promise<boolean>,
  ) =>
    transaction(pool, async (db) => {
      if (!(await moveCursor(db))) return false;
      if (cursor.hash !== from?.hash) await keepBlock(db, network, cursor, lowest);
      await upsertTransfers(db, network, changed);
      return true;
    });
  return {
    load: () => load(pool, network),
    begin: (genesis, from, change) =>
      apply(null, change, change.cursor.height, (db) => beginAt(db, network, genesis, from, change.cursor)),
    commit: (from, change) =>
      apply(from, change, change.cursor.height - windowBlocks, (db) => moveCursor(db, network, from, change)),
    mark: async ({ tip, readAt, halted, stalled, nodes }) => {
      await pool.query({
        name: 'mark-chain',
        text: `insert into payments.chain_cursors as row (network, tip, read_at, halted, stalled, nodes, block_lag_ms, block_lead_ms)
               values ($1, $2, $3, $4, $5, $6, $8, $9)
               on conflict (network) do update set tip = coalesce(excluded.tip, row.tip), halted = excluded.halted,
                 read_at = coalesce(excluded.read_at, row.read_at), nodes = coalesce(excluded.nodes, row.nodes),
                 stalled = case when $7 then row.stalled else excluded.stalled end,
                 block_lag_ms = excluded.block_lag_ms, block_lead_ms = excluded.block_lead_ms`,
        values: [
          network,
          tip,
          readAt,
          halted,
          stalled,
          nodes && JSON.stringify(nodes),
          stalled === undefined,
          times?.lagMs,
          times?.leadMs,
        ],
      });
    },
    withIds: async (ids) => (ids.length === 0 ? [] : transfers('with-ids', 'id = any($2)', ids)),
    ofBlock: ({ height, hash }, ids) =>
      transfers('of-block', '(id = any($2) or lost_hash = $3 or (height = $4 and hash = $3))', ids, hash, height),
    above: (height) => transfers('above', 'height > $2', height),
    markWaiting: async (reason) => {
      await pool.query({
        name: 'mark-waiting-chain',
        text: `insert into payments.chain_cursors as row (network, waiting) values ($1, $2)
               on conflict (network) do update set waiting = excluded.waiting
               where row.waiting is distinct from excluded.waiting`,
        values: [network, reason],
      });
    },
    open: () => readOpenTransfers(pool, network),
    saveReports: (changes) => saveReports(pool, network, changes),
  };
};

const load = async (pool: Pool, network: string): Promise<StoredChain> => {
  const [cursor, blocks] = await Promise.all([
    pool.query<CursorRow>({
      name: 'chain-cursor',
      text: 'select * from payments.chain_cursors where network = $1',
      values: [network],
    }),
    pool.query<BlockRow>({
      name: 'chain-window',
      text: 'select height, hash, time, nodes from payments.chain_blocks where network = $1 order by height',
      values: [network],
    }),
  ]);
  const [row] = cursor.rows;
  const rescanFrom = row?.rescan_from ? Number(row.rescan_from) : null;
  const marks = {
    readAt: row?.read_at ?? null,
    halted: row?.halted ?? null,
    stalled: row?.stalled ?? null,
    rescanFrom,
  };
  if (!row?.genesis) return { state: null, ...marks };
  // The two statements may see different commits: blocks from the cursor on may belong to a later one.
  const below = blocks.rows.map(blockOf).filter(({ height }) => height < Number(row.height));
  const { nodes } = blocks.rows.find(({ hash }) => hash === row.hash) ?? { nodes: [] };
  const window = [...below, blockOf({ ...row, nodes })];
  return { state: { genesis: row.genesis, window, rechecked: Number(row.rechecked) }, ...marks };
};

const blockOf = ({ height, hash, time, nodes }: BlockRow): ReadBlock => ({ height: Number(height), hash, time, nodes });

/** False if the cursor is elsewhere, or an operator asked for a rescan. */
const moveCursor = async (
  db: Queryable,
  network: string,
  from: ReadBlock,
  { cursor: to, rechecked }: ChainChange,
): Promise<boolean> => {
  const { rowCount } = await db.query({
    name: 'move-chain-cursor',
    text: `update payments.chain_cursors set height = $4, hash = $5, time = $6, halted = null,
             rechecked = least(coalesce($7, rechecked), $4)
           where network = $1 and height = $2 and hash = $3 and rescan_from is null`,
    values: [network, from.height, from.hash, to.height, to.hash, to.time, rechecked ?? null],
  });
  return rowCount === 1;
};

const beginAt = async (
  db: Queryable,
  network: string,
  genesis: string,
  from: ReadBlock | null,
  to: ReadBlock,
): Promise<boolean> => {
  const { rowCount } = await db.query(
    `insert into payments.chain_cursors as row (network, genesis, height, hash, time, rechecked)
     values ($1, $2, $3, $4, $5, $3)
     on conflict (network) do update set genesis = excluded.genesis, height = excluded.height, hash = excluded.hash,
       time = excluded.time, rechecked = excluded.rechecked, halted = null, rescan_from = null
     where row.height is not distinct from $6 and row.hash is not distinct from $7`,
    [network, genesis, to.height, to.hash, to.time, from?.height ?? null, from?.hash ?? null],
  );
  return rowCount === 1;
};

const keepBlock = async (db: Queryable, network: string, block: ReadBlock, lowest: number): Promise<void> => {
  await db.query({
    name: 'forget-chain-blocks',
    text: 'delete from payments.chain_blocks where network = $1 and (height > $2 or height < $3)',
    values: [network, block.height, lowest],
  });
  await db.query({
    name: 'keep-chain-block',
    text: `insert into payments.chain_blocks (network, height, hash, time, nodes) values ($1, $2, $3, $4, $5)
           on conflict (network, height) do update set hash = excluded.hash, time = excluded.time, nodes = excluded.nodes`,
    values: [network, block.height, block.hash, block.time, block.nodes],
  });
};

const saveReports = async (pool: Pool, network: string, changes: readonly ReportChange[]): Promise<void> => {
  if (changes.length === 0) return;
  const columns = Object.entries(REPORT_COLUMNS);
  const names = columns.map(([name]) => name);
  const rows = changes.map(reportRowOf);
  await pool.query({
    name: 'save-chain-reports',
    text: `update payments.chain_transfers as row set ${names.map((name) => `${name} = made.${name}`).join(', ')}
           from unnest($2::text[], ${columns.map(([, type], n) => `$${n + 3}::${type}[]`).join(', ')})
             as made (id, ${names.join(', ')})
           where row.network = $1 and row.id = made.id`,
    values: [network, changes.map(({ id }) => id), ...columns.map(([name]) => rows.map((row) => row[name] ?? null))],
  });
};

const REPORT_COLUMNS = {
  required: 'int',
  reported: 'text',
  reported_hash: 'text',
  pending: 'text',
  pending_hash: 'text',
  attempts: 'int',
  first_failed_at: 'timestamptz',
  last_failed_at: 'timestamptz',
  retry_at: 'timestamptz',
  failure: 'text',
} as const;

const reportRowOf = ({ required, reported, pending, failure }: ReportChange): Readonly<Record<string, unknown>> => ({
  required,
  reported: reported?.status,
  reported_hash: reported?.block,
  pending: pending?.status,
  pending_hash: pending?.block,
  attempts: failure?.attempts,
  first_failed_at: failure?.firstAt,
  last_failed_at: failure?.lastAt,
  retry_at: failure?.retryAt,
  failure: failure?.reason,
});
