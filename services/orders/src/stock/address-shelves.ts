import { type LeasedAddress, type Stock as LeasedStock, type StockCall, stockNameOf } from '@cpg/contracts';
import { keepShelf, type TakenItem } from './shelf-keeper.ts';

/** The addresses of one refill: how many of each name, and what to do with them. */
interface AddressRefill {
  readonly counts: StockCall['addresses'];
  readonly end: (leased: LeasedStock['addresses'], terms: { endsAtMs: number; retryInMs: number }) => void;
}

export interface AddressShelves {
  /** Takes an address on a network: of the merchant's own account, or of the platform without one. */
  readonly take: (network: string, account: string | undefined) => TakenItem<LeasedAddress> | null;
  /** A refill of the shelves that were used since the last one. */
  readonly beginRefill: () => AddressRefill;
}

/** Leased addresses of each account. A merchant with an account of its own adds no work to orders of others. */
export const addressShelves = (nowMs: () => number): AddressShelves => {
  const newShelf = (name: string, account: string | undefined) => ({
    ...keepShelf<LeasedAddress>(nowMs),
    name,
    account,
  });
  const shelves = new Map<string, ReturnType<typeof newShelf>>();
  const used = new Set<ReturnType<typeof newShelf>>();
  return {
    take: (network, account) => {
      const name = stockNameOf(network, account);
      const shelf = shelves.get(name) ?? newShelf(name, account);
      shelves.set(name, shelf);
      used.add(shelf);
      return shelf.take();
    },
    beginRefill: () => {
      const counted = [...used].map((shelf) => [shelf, shelf.beginRefill()] as const);
      const wanted = counted.filter(([, count]) => count > 0);
      used.clear();
      return {
        counts: Object.fromEntries(wanted.map(([{ name }, count]) => [name, count])),
        end: (leased, terms) => {
          for (const [shelf] of wanted) shelf.endRefill(ofAccount(leased[shelf.name], shelf.account), terms);
        },
      };
    },
  };
};

/** Payments answers with addresses of the account that was named. One of another account would be paid to another
 *  merchant. */
const ofAccount = (leased: readonly LeasedAddress[] = [], account: string | undefined): readonly LeasedAddress[] =>
  account === undefined ? leased : leased.filter(({ derivation }) => derivation.fingerprint === account);
