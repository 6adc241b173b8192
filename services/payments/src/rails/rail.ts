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

/** Whether a rail takes payments in a currency now, and from which total. */
export interface Offer {
  readonly isAvailable: boolean;
  /** The smallest total, in minor units. */
  readonly smallestMinor: bigint;
  /** The assets of the currency, by network. Empty for a provider without deposit addresses. */
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
  /** The offer for a supported currency now. */
  readonly offerOf: (currency: PaymentCurrency) => Promise<Offer>;
  /** Assigns deposit instructions to an order in a supported currency: one, or one per network that can take the
   *  amount. They belong to the order once it is recorded with them; a repeat may assign others. */
  readonly assignInstructions: (order: OrderToPay) => Promise<AssignedInstruction[]>;
}

/** Leases addresses and references in advance. The orders service holds them, so that it creates orders without a call
 *  to payments. */
export interface StockSources {
  /** Leases `count` addresses that no order has. Nobody else gets them until the lease ends, and never once an order
   *  has recorded them. Null if the network is not configured. */
  readonly leaseAddresses: (network: string, count: number) => Promise<LeasedAddress[] | null>;
  /** `count` payment references of each provider, by its name. Null without a provider, or if one has to register each
   *  order itself. */
  readonly leaseReferences: (count: number) => Record<string, LeasedReference[]> | null;
}
