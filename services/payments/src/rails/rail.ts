import type { AssignedInstruction, PaymentCurrency } from '@cpg/contracts';

export interface OrderToPay {
  readonly orderId: string;
  readonly merchantId: string;
  readonly currency: PaymentCurrency;
  /** Its total in minor units. Unknown to callers of earlier versions. */
  readonly amountMinor?: bigint;
}

/** A way to receive money. */
export interface Rail {
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Throws `amount_too_small` for an order in a supported currency that the rail cannot take. */
  readonly requirePayable?: (order: OrderToPay) => void;
  /** Assigns deposit instructions to an order in a supported currency: one, or one per network that can
   *  take the amount. Idempotent by order id;
   *  durable once it resolves. */
  readonly assignInstructions: (order: OrderToPay) => Promise<AssignedInstruction[]>;
}
