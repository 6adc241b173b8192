import { type Asset, depositInstruction } from '@cpg/assets';
import type { AssignedInstruction, LeasedAddress, LeasedReference, PaymentCurrency, PaymentRail } from '@cpg/contracts';
import { unreachable } from '@cpg/core';

/** One reference of each provider. */
export type References = Readonly<Record<string, LeasedReference>>;

/** What an order gets. */
export interface Assigned {
  readonly deposits: readonly { readonly asset: Asset; readonly address: LeasedAddress }[];
  readonly references: References;
}

/** The deposit instructions of an order, as payments makes them: by rail, then by network or provider. */
export const instructionsFrom = (
  rails: readonly PaymentRail[],
  currency: PaymentCurrency,
  { deposits, references }: Assigned,
): AssignedInstruction[] =>
  rails.flatMap((rail): AssignedInstruction[] => {
    switch (rail) {
      case 'crypto_deposit':
        return deposits.map(({ asset, address }) => depositInstruction(asset, address));
      case 'gateway_pay':
        return Object.entries(references).map(([provider, { payment_reference, payment_url }]) => ({
          rail,
          currency,
          provider,
          paymentReference: payment_reference,
          paymentUrl: payment_url,
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
