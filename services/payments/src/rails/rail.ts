import type { Asset } from '@cpg/assets';
import type { AssignedInstruction, LeasedAddress, LeasedReference, PaymentCurrency } from '@cpg/contracts';

export interface OrderToPay {
  readonly orderId: string;
  readonly merchantId: string;
  readonly currency: PaymentCurrency;
  /** Its total in minor units, and their decimals. */
  readonly amountMinor: bigint;
  readonly decimals: number;
}

/** What a rail takes of a currency now. */
export interface Offer {
  readonly isAvailable: boolean;
  /** The smallest total, in minor units. */
  readonly smallestMinor: bigint;
  readonly assets: readonly { readonly asset: Asset; readonly isAvailable: boolean }[];
}

/** The offer of a provider that takes every amount at any time. */
export const ANY_AMOUNT: Offer = { isAvailable: true, smallestMinor: 1n, assets: [] };

/** A way to receive money. */
export interface Rail {
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Throws `amount_too_small` for an order in a supported currency that the rail cannot take, and
   *  `network_unavailable` for one that it cannot take now. */
  readonly requirePayable: (order: OrderToPay) => Promise<void>;
  /** Of a supported currency. */
  readonly offerOf: (currency: PaymentCurrency) => Promise<Offer>;
  /** Assigns deposit instructions to an order in a supported currency: one, or one per network that can take the
   *  amount. They belong to the order once it is recorded with them; a repeat may assign others. */
  readonly assignInstructions: (order: OrderToPay) => Promise<AssignedInstruction[]>;
}

export interface StockSources {
  /** Addresses that no order has yet. Nobody else gets them before their lease ends, or once an order has them. Null
   *  for a network that is not configured. */
  readonly leaseAddresses: (network: string, count: number) => Promise<LeasedAddress[] | null>;
  /** `count` references of each provider. Null if a provider has to register each order. */
  readonly leaseReferences: (count: number) => Record<string, LeasedReference[]> | null;
}
