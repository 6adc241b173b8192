import type { AssignedInstruction, PaymentCurrency } from '@cpg/contracts';

export interface OrderToPay {
  readonly orderId: string;
  readonly merchantId: string;
  readonly currency: PaymentCurrency;
  /** Its total in minor units. */
  readonly amountMinor: bigint;
}

/** An amount to pay; without one, any amount. */
export type PayableAmount = Pick<OrderToPay, 'currency'> & Partial<Pick<OrderToPay, 'amountMinor'>>;

/** A way to receive money. */
export interface Rail {
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Throws `amount_too_small` for an order in a supported currency that the rail cannot take, and
   *  `network_unavailable` for one that it cannot take now. */
  readonly requirePayable: (order: PayableAmount) => Promise<void>;
  /** Assigns deposit instructions to an order in a supported currency: one, or one per network that can take the
   *  amount. They belong to the order once it is recorded with them; a repeat may assign others. */
  readonly assignInstructions: (order: OrderToPay) => Promise<AssignedInstruction[]>;
}
