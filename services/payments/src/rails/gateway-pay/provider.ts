import type { AssignedDeposit, LeasedReference, PaymentCurrency, ProviderPayment } from '@cpg/contracts';
import type { Offer, OrderToPay } from '../rail.ts';
import type { SignatureHeaders } from './signature.ts';

/** A payment page and the reference that names it. */
interface PaymentPage {
  readonly reference: string;
  readonly paymentUrl: string;
  /** Default: the payment URL. */
  readonly qrContent?: string;
  /** The deposit addresses behind the page. */
  readonly deposits?: AssignedDeposit[];
}

/** Takes payments on pages of its own. */
export interface ProviderAdapter {
  readonly name: string;
  readonly supports: (currency: PaymentCurrency) => boolean;
  /** Throws `amount_too_small` for an order that the provider cannot take, and `network_unavailable` for one that it
   *  cannot take now. */
  readonly requirePayable?: (order: OrderToPay) => Promise<void>;
  /** Absent if it takes every amount at any time. */
  readonly offerOf?: (currency: PaymentCurrency) => Promise<Offer>;
  /** A payment page for the order. Idempotent by order id, unless nobody else ever gets what it returns. */
  readonly registerOrder: (order: OrderToPay) => Promise<PaymentPage>;
  /** A new reference for an order that the provider need not know. Absent if it has to register each order. */
  readonly newReference?: () => LeasedReference;
}

interface QueriedPayments {
  readonly payments: readonly ProviderPayment[];
  /** The fault of each payment that cannot be read. */
  readonly faults: readonly string[];
}

/** A provider of somebody else, who holds the money. It reports payments by callbacks, and answers queries. */
export interface OutsideProvider extends ProviderAdapter {
  /** The payment in a callback. Throws `invalid_signature`, and `invalid_request`. */
  readonly verify: (headers: SignatureHeaders, body: Buffer) => ProviderPayment;
  /** The payments by a reference so far. */
  readonly query: (reference: string) => Promise<QueriedPayments>;
  readonly close: () => Promise<void>;
}
