import type { AssignedInstruction, PaymentCurrency, PaymentRail } from '@cpg/contracts';

export interface OrderToPay {
  readonly orderId: string;
  readonly merchantId: string;
  readonly currency: PaymentCurrency;
}

/** A way for money to come in. */
export interface Rail {
  readonly rail: PaymentRail;
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Where to pay an order in a supported currency: one instruction, or one per network. The same order gets the same ones again. Durable
   *  once it resolves. */
  readonly open: (order: OrderToPay) => Promise<AssignedInstruction[]>;
}
