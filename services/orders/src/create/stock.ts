import {
  type Asset,
  assignedDeposit,
  type AssetTable,
  confirmationsOf,
  depositInstruction,
  type DepositSettings,
  payableAssets,
  settingsOf,
} from '@cpg/assets';
import {
  ADDRESS_LEASE_MS,
  type AssignedInstruction,
  isTemporary,
  type LeasedAddress,
  type LeasedReference,
  type PaymentCurrency,
  type PaymentRail,
  type Stock as LeasedStock,
  type StockCall,
  stockNameOf,
  unreachable,
} from '@cpg/contracts';
import { type Logger, steadyNowMs } from '@cpg/platform';
import { leaseUntil, type PayableOrder, type Payables } from './payables.ts';
import { createLeasedItems, type LeasedItems, type TakenItem } from './leased-items.ts';

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
  readonly isAvailable: (network: string) => boolean;
  /** Leases items from payments. */
  readonly lease: (call: StockCall) => Promise<LeasedStock>;
  readonly log: Logger;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

const RETRY_MS = 1_000;
/** For what payments does not have. */
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
  const addresses = new Map<string, LeasedItems<LeasedAddress>>();
  const references = createLeasedItems<References>(nowMs);
  const refillInBackground = refiller({ addresses, references }, { lease, log, nowMs });

  const takeAddress = (name: string): TakenItem<LeasedAddress> | null => {
    const items = addresses.get(name) ?? createLeasedItems<LeasedAddress>(nowMs);
    addresses.set(name, items);
    return items.take();
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

interface StockedItems {
  readonly addresses: ReadonlyMap<string, LeasedItems<LeasedAddress>>;
  readonly references: LeasedItems<References>;
}

/** Leases in the background what is missing, by one call at a time. */
const refiller = (
  { addresses, references }: StockedItems,
  { lease, log, nowMs }: Pick<StockOptions, 'lease' | 'log'> & { readonly nowMs: () => number },
): (() => void) => {
  let refilling = false;
  const refill = async (): Promise<void> => {
    const missing = [...addresses].map(([name, items]) => [name, items.missing()] as const);
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
  return () => {
    if (refilling) return;
    refilling = true;
    void refill().finally(() => (refilling = false));
  };
};

/** One reference of each provider. */
type References = Readonly<Record<string, LeasedReference>>;

interface Deposit {
  readonly asset: Asset;
  readonly address: LeasedAddress;
}

/** The items that an order gets. */
interface Assigned {
  readonly deposits: readonly Deposit[];
  /** A reference of each provider, with the deposits behind its payment page. */
  readonly pages: readonly {
    readonly provider: string;
    readonly reference: LeasedReference;
    readonly deposits: readonly Deposit[];
  }[];
}

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

/** The deposit instructions of an order, as payments makes them: by rail, then by network or provider. */
const instructionsFrom = (
  rails: readonly PaymentRail[],
  currency: PaymentCurrency,
  { deposits, pages }: Assigned,
): AssignedInstruction[] =>
  rails.flatMap((rail): AssignedInstruction[] => {
    switch (rail) {
      case 'crypto_deposit':
        return deposits.map(({ asset, address }) => depositInstruction(asset, address));
      case 'gateway_pay':
        return pages.map(({ provider, reference, deposits: behind }) => ({
          rail,
          currency,
          provider,
          paymentReference: reference.payment_reference,
          paymentUrl: reference.payment_url,
          ...(reference.networks && { deposits: behind.map(({ asset, address }) => assignedDeposit(asset, address)) }),
        }));
      default:
        return unreachable(rail);
    }
  });

/** Sets of one reference of each provider, from lists by provider. */
const referenceSets = (byProvider: Readonly<Record<string, readonly LeasedReference[]>>): References[] => {
  const count = Math.min(...Object.values(byProvider).map(({ length }) => length));
  if (!Number.isFinite(count)) return [];
  return Array.from({ length: count }, (_, n) =>
    Object.fromEntries(Object.entries(byProvider).map(([provider, references]) => [provider, references[n]!])),
  );
};
