import type {
  AssignedInstruction,
  Capabilities,
  Item,
  Metadata,
  OfferedPayment,
  OrderDetails,
  PaymentCurrency,
  PaymentRail,
  Rates,
  RefundableOfOrder,
  RefundCurrency,
} from '@cpg/contracts';

export type CreateOrder = OrderDetails & {
  readonly type: 'CreateOrder';
  readonly orderId: string;
  readonly merchantId: string;
  readonly items: Item[];
  readonly rails: PaymentRail[];
  readonly currency: PaymentCurrency;
  /** Of the minor units of the order. */
  readonly decimals: number;
  readonly capabilities: Capabilities;
  readonly rates: Rates;
  readonly totalMinor: bigint;
  /** The part of the total that may be missing, in hundredths of a percent. */
  readonly toleranceBps?: number | undefined;
  readonly expirationMinutes: number;
  /** Until when the rates are locked. By default, the deadline. */
  readonly ratesExpireAt?: string | undefined;
  /** Absent while a provider is slow: `InstructOrder` adds them later. */
  readonly instructions?: AssignedInstruction[] | undefined;
  readonly at: Date;
};

/** The command is refused once money for the order was seen. */
interface IfUnpaid {
  /** A payment that the payments service has and that the order may not know yet. Null if there is none. */
  readonly recordedPayment: string | null;
}

/** Other items, with their price at new rates. */
interface NewItems extends IfUnpaid {
  readonly items: Item[];
  readonly rates: Rates;
  readonly totalMinor: bigint;
}

/** `at` is the time at which the order decides: the events record it. */
export type OrderCommand =
  | CreateOrder
  | { readonly type: 'InstructOrder'; readonly instructions: AssignedInstruction[]; readonly at: Date }
  | {
      readonly type: 'OfferPayment';
      readonly payment: OfferedPayment;
      readonly confirmed: boolean;
      /** The block changed, and the earlier confirmation no longer counts. */
      readonly unconfirmed?: boolean | undefined;
      readonly at: Date;
    }
  | {
      readonly type: 'FailPayment';
      readonly payment: OfferedPayment;
      readonly failureReason: string;
      readonly failedAt: Date;
      readonly at: Date;
    }
  | {
      readonly type: 'RefundPayment';
      readonly paymentId: string;
      readonly refundId: string;
      /** The sum of all refunds of the payment, including `refundId`. */
      readonly refundedTotalMinor: bigint;
      /** The sum of the parts of refunds of the order among them. By default, as it was. */
      readonly orderRefundedTotalMinor?: bigint | undefined;
      /** When the payment recorded that the order applied it. */
      readonly appliedAt?: Date | undefined;
      readonly refundedAt: Date;
      readonly at: Date;
    }
  | {
      readonly type: 'RefundOrder';
      readonly orderRefundId: string;
      readonly amount: string;
      /** That of the order by default. */
      readonly currency?: RefundCurrency | undefined;
      readonly reason?: string | undefined;
      /** What payments knows of the payments of the order. */
      readonly refundable: RefundableOfOrder['payments'];
      readonly at: Date;
    }
  | {
      readonly type: 'CapturePayments';
      /** By payment id: a refund of it that waits for its transfer. None by default. */
      readonly openRefunds?: Readonly<Record<string, string>> | undefined;
      readonly at: Date;
    }
  | { readonly type: 'AcceptOrder'; readonly because: string; readonly at: Date }
  | { readonly type: 'CancelOrder'; readonly ifUnpaid?: IfUnpaid | undefined; readonly at: Date }
  | {
      readonly type: 'UpdateOrder';
      /** The names to set; those with null are removed. The others stay. */
      readonly metadata?: Metadata | undefined;
      readonly expirationMinutes?: number | undefined;
      readonly newItems?: NewItems | undefined;
      /** How long rates may be locked, from their quote. */
      readonly rateLockMaxMinutes: number;
      readonly at: Date;
    }
  | {
      readonly type: 'RenewOrder';
      readonly rates: Rates;
      readonly pricedMinor: bigint;
      /** Until when the rates are locked. By default, the deadline. */
      readonly ratesExpireAt?: string | undefined;
      readonly at: Date;
    }
  | { readonly type: 'ExpireOrder'; readonly at: Date }
  | { readonly type: 'AdvanceTime'; readonly minutes: number; readonly at: Date }
  | { readonly type: 'DeleteOrder'; readonly at: Date };

export type CommandOf<T extends OrderCommand['type']> = Extract<OrderCommand, { type: T }>;
