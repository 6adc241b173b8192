import type { AssignedInstruction, PaymentCurrency } from '@cpg/contracts';

export interface OrderToPay {
  readonly orderId: string;
  readonly merchantId: string;
  readonly currency: PaymentCurrency;
}

/** A way to receive money. */
export interface Rail {
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Assigns deposit instructions to an order in a supported currency: one, or one per network. Idempotent by order id;
   *  durable once it resolves. */
  readonly assignInstructions: (order: OrderToPay) => Promise<AssignedInstruction[]>;
}
