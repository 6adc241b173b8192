import { type AssetTable, isMainnet } from '@cpg/assets';
import { type AssignedDeposit, depositsOf } from '@cpg/contracts';
import { findInLog } from '@cpg/event-sourcing';
import { FatalStartError, type Logger } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { payableProjection } from './payable-projection.ts';
import { merchantOfOrder, payableChangeIn } from './payable.ts';

export interface AssetsInUseOptions {
  readonly client: EventStoreDBClient;
  readonly db: Queryable;
  readonly table: AssetTable;
  readonly environment: 'sandbox' | 'production';
  readonly now: () => Date;
  readonly log: Logger;
}

/** The longest deadline of an order, and the 90 days in which late money at its addresses is looked for. */
const RECENT_DAYS = 120;

/** Throws FatalStartError if recent orders show an asset that the table does not have any more: nobody would see their
 *  deposits. A sandbox only warns. Throws `dependency_unavailable` while that is not known. */
export const requireAssetsInUse = async ({ table, environment, log, ...stores }: AssetsInUseOptions): Promise<void> => {
  const known = new Set(table.assets.map(({ id }) => id));
  const missing = (await recentlyShown(stores)).filter(({ asset }) => !known.has(asset));
  if (environment === 'sandbox') {
    if (missing.length > 0) log.warn({ assets: missing }, 'recent orders show assets that are not in ASSETS_FILE');
    return;
  }
  // Production refuses test networks in the table.
  const needed = missing.filter(({ asset }) => isMainnet(asset.split('/')[0]!) !== false);
  if (needed.length === 0) return;
  const faults = needed.map(({ asset, network, orders }) => `  ${asset} on ${network}: ${orders} orders`);
  throw new FatalStartError(
    [
      `ASSETS_FILE lacks assets that orders of the last ${RECENT_DAYS} days show, so their deposits would not be seen:`,
      ...faults,
      'Add their rows again. With "retired": true, new orders are not offered an asset.',
    ].join('\n'),
  );
};

const recentlyShown = async ({
  client,
  db,
  now,
}: Pick<AssetsInUseOptions, 'client' | 'db' | 'now'>): Promise<AssetUse[]> => {
  const since = new Date(now().getTime() - RECENT_DAYS * 86_400_000);
  const uses = new Map<string, AssetUse>();
  const inRows = async () => {
    for (const use of await assetsShownSince(db, since)) uses.set(use.asset, use);
    return null;
  };
  const inEvent = async (entry: AllStreamResolvedEvent) => {
    const change = await payableChangeIn(entry, (orderId) => merchantOfOrder(client, orderId));
    if (change?.kind !== 'assigned') return null;
    const deposits = change.payables.flatMap(({ instruction }) => depositsOf(instruction)) as AssignedDeposit[];
    for (const { asset, network } of deposits) if (!uses.has(asset)) uses.set(asset, { asset, network, orders: 1 });
    return null;
  };
  await findInLog({ client, db, projection: payableProjection(client), inRows, inEvent });
  return [...uses.values()];
};

interface AssetUse {
  /** CAIP-19. */
  readonly asset: string;
  readonly network: string;
  /** How many orders show it. */
  readonly orders: number;
}

/** The assets that orders show which got their instructions since an instant. */
const assetsShownSince = async (db: Queryable, since: Date): Promise<AssetUse[]> => {
  const { rows } = await db.query<{ asset: string; network: string; orders: string }>(
    `select asset, network, count(distinct order_id) as orders from payments.payables
     where asset is not null and assigned_at >= $1 group by asset, network order by asset`,
    [since],
  );
  return rows.map((row) => ({ ...row, orders: Number(row.orders) }));
};
