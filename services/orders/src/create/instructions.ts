import { type Asset, assignedDeposit, depositInstruction } from '@cpg/assets';
import {
  type AssignedInstruction,
  type LeasedAddress,
  type LeasedReference,
  type PaymentCurrency,
  type PaymentRail,
  unreachable,
} from '@cpg/contracts';

/** One reference of each provider. */
export type References = Readonly<Record<string, LeasedReference>>;

export interface Deposit {
  readonly asset: Asset;
  readonly address: LeasedAddress;
}

/** What an order gets. */
export interface Assigned {
  readonly deposits: readonly Deposit[];
  /** A reference of each provider, with the deposits behind its payment page. */
  readonly pages: readonly {
    readonly provider: string;
    readonly reference: LeasedReference;
    readonly deposits: readonly Deposit[];
  }[];
}

/** The deposit instructions of an order, as payments makes them: by rail, then by network or provider. */
export const instructionsFrom = (
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
export const referenceSets = (byProvider: Readonly<Record<string, readonly LeasedReference[]>>): References[] => {
  const count = Math.min(...Object.values(byProvider).map(({ length }) => length));
  if (!Number.isFinite(count)) return [];
  return Array.from({ length: count }, (_, n) =>
    Object.fromEntries(Object.entries(byProvider).map(([provider, references]) => [provider, references[n]!])),
  );
};
