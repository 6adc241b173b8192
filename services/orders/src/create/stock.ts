import {
  type Asset,
  type AssetTable,
  confirmationsOf,
  type DepositSettings,
  payableAssets,
  settingsOf,
} from '@cpg/assets';
import {
  ADDRESS_LEASE_MS,
  isTemporary,
  type LeasedAddress,
  type LeasedReference,
  type Stock as LeasedStock,
  type StockCall,
  stockNameOf,
} from '@cpg/contracts';
import { type Logger, steadyNowMs } from '@cpg/platform';
import type { IsAvailable } from './available-networks.ts';
import { type Deposit, instructionsFrom, type References, referenceSets } from './instructions.ts';
import { leaseUntil, type PayableOrder, type Payables } from './payables.ts';
import { createShelf, type Shelf, type TakenItem } from './shelf.ts';

export interface Stock {
  /** Takes what the order needs. Null if a part of it is missing: then payments assigns the instructions. Refills the
   *  stock in the background. */
  readonly take: (order: Pick<PayableOrder, 'merchantId' | 'currency' | 'rails' | 'totalMinor'>) => Payables | null;
}

export interface StockOptions {
  readonly assets: AssetTable;
  /** The accounts and confirmations of merchants. Null while they are not known: then the stock gives nothing. */
  readonly settings: () => DepositSettings | null;
  /** Whether a network is read. On others no order gets an address. */
  readonly isAvailable: IsAvailable;
  /** Leases items from payments. */
  readonly lease: (call: StockCall) => Promise<LeasedStock>;
  readonly log: Logger;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

const RETRY_MS = 1_000;
/** For what payments does not have, and for a version of payments that leases nothing. */
const RETRY_ABSENT_MS = 60_000;
const NOTHING: LeasedStock = { addresses: {}, references: null };

type StockedOrder = Parameters<Stock['take']>[0];

/** Leased addresses and references for new orders, so that creating an order needs no call to payments. They are only
 *  in memory: what a process leaves unused is leased again once its lease has ended. */
export const createStock = ({
  assets,
  settings,
  isAvailable,
  lease,
  log,
  nowMs = steadyNowMs,
}: StockOptions): Stock => {
  /** By account: a merchant with an account of its own adds no work to orders of others. */
  const addresses = new Map<string, Shelf<LeasedAddress>>();
  const references = createShelf<References>(nowMs);
  let refilling = false;

  const refill = async (): Promise<void> => {
    const missing = [...addresses].map(([name, shelf]) => [name, shelf.missing()] as const);
    const wanted = missing.filter(([, count]) => count > 0);
    const call = { addresses: Object.fromEntries(wanted), references: references.missing() };
    if (wanted.length === 0 && call.references === 0) return;
    // From before the call, so that the lease ends here before it ends at payments.
    const sentAtMs = nowMs();
    let retryInMs = RETRY_ABSENT_MS;
    const leased = await lease(call).catch((error: unknown) => {
      if (isTemporary(error)) retryInMs = RETRY_MS;
      else log.warn({ err: error }, 'payments leased no stock');
      return NOTHING;
    });
    const terms = { endsAtMs: sentAtMs + ADDRESS_LEASE_MS, retryInMs };
    for (const [name] of wanted) addresses.get(name)!.add(ofAccount(name, leased.addresses[name]), terms);
    if (call.references > 0) references.add(referenceSets(leased.references ?? {}), terms);
  };

  const refillInBackground = (): void => {
    if (refilling) return;
    refilling = true;
    void refill().finally(() => (refilling = false));
  };

  const takeAddress = (name: string): TakenItem<LeasedAddress> | null => {
    const shelf = addresses.get(name) ?? createShelf(nowMs);
    addresses.set(name, shelf);
    return shelf.take();
  };
  const takeDeposits = (payable: readonly Asset[], order: StockedOrder, known: DepositSettings): TakenDeposit[] => {
    const { accounts } = settingsOf(known, order.merchantId);
    return payable.map((asset) => {
      const { name } = asset.network;
      const taken = takeAddress(stockNameOf(name, accounts.get(name)));
      return { asset: withConfirmations(asset, order, known), taken };
    });
  };
  /** The references of one order, and the deposits that they need. */
  const takePages = (payable: readonly Asset[], ...forOrder: [StockedOrder, DepositSettings]): TakenPages => {
    const taken = references.take();
    const pages = Object.entries(taken?.item ?? {}).map(([provider, reference]) => {
      const { networks } = reference;
      const offered = payable.filter(({ network }) => networks?.includes(network.name));
      const deposits = takeDeposits(offered, ...forOrder);
      return { provider, reference, deposits, isComplete: networks === undefined || deposits.length > 0 };
    });
    return { taken, pages };
  };

  return {
    take: (order) => {
      const known = settings();
      if (!known) return null;
      const { currency, rails, totalMinor } = order;
      const payable = payableAssets(assets, currency, totalMinor).filter(({ network }) => isAvailable(network.name));
      // Payments refuses the order with the reason, or knows better.
      if (payable.length === 0 && rails.includes('crypto_deposit')) return null;
      const deposits = takeDeposits(rails.includes('crypto_deposit') ? payable : [], order, known);
      const page = rails.includes('gateway_pay') ? takePages(payable, order, known) : undefined;
      refillInBackground();
      const pages = page?.pages ?? [];
      const wanted = [
        ...[deposits, ...pages.map((each) => each.deposits)].flat().map(({ taken }) => taken),
        ...(page ? [page.taken] : []),
      ];
      const taken = wanted.filter((each) => each !== null);
      const putBack = () => taken.forEach((each) => each.putBack());
      if (taken.length < wanted.length || pages.some(({ isComplete }) => !isComplete)) {
        putBack();
        return null;
      }
      const assigned = {
        deposits: deposits.map(itemOf),
        pages: pages.map((each) => ({ ...each, deposits: each.deposits.map(itemOf) })),
      };
      return {
        instructions: instructionsFrom(rails, currency, assigned),
        putBack,
        requireLease: leaseUntil(Math.min(...taken.map(({ endsAtMs }) => endsAtMs)), nowMs),
      };
    },
  };
};

interface TakenDeposit {
  readonly asset: Asset;
  readonly taken: TakenItem<LeasedAddress> | null;
}

interface TakenPages {
  readonly taken: TakenItem<References> | null;
  readonly pages: readonly {
    readonly provider: string;
    readonly reference: LeasedReference;
    readonly deposits: readonly TakenDeposit[];
    /** False if no network of the provider can take the amount: payments decides what to do. */
    readonly isComplete: boolean;
  }[];
}

/** Payments answers with addresses of the account that was named. One of another account would be paid to another
 *  merchant. */
const ofAccount = (name: string, leased: readonly LeasedAddress[] = []): readonly LeasedAddress[] => {
  const [, account] = name.split('/');
  return account === undefined ? leased : leased.filter(({ derivation }) => derivation.fingerprint === account);
};

const itemOf = ({ asset, taken }: TakenDeposit): Deposit => ({ asset, address: taken!.item });

/** The asset with the confirmations that the merchant requires. */
const withConfirmations = (asset: Asset, { merchantId, totalMinor }: StockedOrder, known: DepositSettings): Asset => {
  const confirmations = confirmationsOf(known, { merchantId, asset: asset.id, amountMinor: totalMinor });
  return confirmations === null ? asset : { ...asset, requiredConfirmations: confirmations };
};
