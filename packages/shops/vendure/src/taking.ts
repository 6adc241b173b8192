import type { ShopState } from '@cpg/shop-client';

/** What the shop does with an order of the gateway. */
export interface Taking {
  /** Whether to add its payment to the order of the shop. */
  readonly pay: boolean;
  /** What staff has to know. */
  readonly note?: string;
}

/** `state` is that of Vendure's order. `isTaken`: it has the payment of this order of the gateway already. */
export const takingOf = (state: string, meaning: ShopState, isTaken: boolean): Taking => {
  if (meaning !== 'captured' || isTaken) return { pay: false };
  switch (state) {
    case 'AddingItems':
    case 'ArrangingPayment':
    case 'ArrangingAdditionalPayment':
      return { pay: true };
    case 'Cancelled':
      return { pay: false, note: 'Paid after this order was cancelled: pay the money back, or sell again.' };
    default:
      return { pay: false, note: 'Paid a second time: this order was paid in another way before. Pay the money back.' };
  }
};

/** A note names the order of the gateway, where staff finds the money. */
export const noteOf = (text: string, gatewayOrderId: string): string => `Crypto payment ${gatewayOrderId}: ${text}`;
