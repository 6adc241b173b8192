import { type AssetTable, payableAssets } from '@cpg/assets';
import type { LeasedAddress, Stock as LeasedStock, StockCall } from '@cpg/contracts';
import { isTemporary } from '@cpg/core';
import type { Logger } from '@cpg/runtime';
import { instructionsFrom, type References, referenceSets } from './instructions.ts';
import { leaseUntil, type PayableOrder, type Payables } from './payables.ts';
import { keepShelf } from './shelf-keeper.ts';

export interface Stock {
  /** Takes what the order needs. Null if a part of it is missing: then payments assigns the instructions. Refills the
   *  stock in the background. */
  readonly take: (order: Pick<PayableOrder, 'currency' | 'rails' | 'totalMinor'>) => Payables | null;
}

export interface StockOptions {
  readonly assets: AssetTable;
  /** Leases items from payments. */
  readonly lease: (call: StockCall) => Promise<LeasedStock>;
  readonly log: Logger;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

const RETRY_MS = 1_000;
/** For what payments does not have, and for a version of payments that leases nothing. */
const RETRY_ABSENT_MS = 60_000;
const NOTHING: LeasedStock = { lease_ms: 0, addresses: {}, references: null };

/** Leased addresses and references for new orders, so that creating an order needs no call to payments. They are only
 *  in memory: what a process leaves unused is leased again once its lease has ended. */
export const createStock = ({ assets, lease, log, nowMs = () => performance.now() }: StockOptions): Stock => {
  const addresses = new Map(assets.networks.map(({ name }) => [name, keepShelf<LeasedAddress>(nowMs)]));
  const references = keepShelf<References>(nowMs);
  let refilling = false;

  const refill = async (): Promise<void> => {
    const counts = [...addresses].map(([network, shelf]) => [network, shelf.beginRefill()] as const);
    const wanted = counts.filter(([, count]) => count > 0);
    const call = { addresses: Object.fromEntries(wanted), references: references.beginRefill() };
    if (wanted.length === 0 && call.references === 0) return;
    // From before the call, so that the lease ends here before it ends at payments.
    const sentAtMs = nowMs();
    let retryInMs = RETRY_ABSENT_MS;
    const leased = await lease(call).catch((error: unknown) => {
      if (isTemporary(error)) retryInMs = RETRY_MS;
      else log.warn({ err: error }, 'payments leased no stock');
      return NOTHING;
    });
    const terms = { endsAtMs: sentAtMs + leased.lease_ms, retryInMs };
    for (const [network] of wanted) addresses.get(network)!.endRefill(leased.addresses[network] ?? [], terms);
    if (call.references > 0) references.endRefill(referenceSets(leased.references ?? {}), terms);
  };

  const refillInBackground = (): void => {
    if (refilling) return;
    refilling = true;
    void refill().finally(() => (refilling = false));
  };

  return {
    take: ({ currency, rails, totalMinor }) => {
      const payable = rails.includes('crypto_deposit') ? payableAssets(assets, currency, totalMinor) : [];
      const deposits = payable.map((asset) => ({ asset, taken: addresses.get(asset.network.name)!.take() }));
      const reference = rails.includes('gateway_pay') ? references.take() : undefined;
      refillInBackground();
      const all = [...deposits.map(({ taken }) => taken), ...(reference === undefined ? [] : [reference])];
      const taken = all.filter((each) => each !== null);
      const putBack = () => taken.forEach((each) => each.putBack());
      if (taken.length < all.length) {
        putBack();
        return null;
      }
      const assigned = {
        deposits: deposits.map(({ asset, taken: leased }) => ({ asset, address: leased!.item })),
        references: reference?.item ?? {},
      };
      return {
        instructions: instructionsFrom(rails, currency, assigned),
        putBack,
        requireLease: leaseUntil(Math.min(...taken.map(({ endsAtMs }) => endsAtMs)), nowMs),
      };
    },
  };
};
