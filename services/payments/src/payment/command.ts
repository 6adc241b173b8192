import type {
  BlockRef,
  Metadata,
  OrphanReason,
  PaymentCurrency,
  PaymentRail,
  RecordedOrderReference,
  RefundPart,
} from '@cpg/contracts';

export type ReceivePayment = {
  readonly type: 'ReceivePayment';
  readonly paymentId: string;
  /** `UNCLAIMED_MERCHANT` when the order does not exist. */
  readonly merchantId: string;
  /** The order that the payment is for; the deposit address when that belongs to no order. */
  readonly orderId: string;
  /** How the merchant knows the order now. Undefined if the order does not exist. */
  readonly order?: RecordedOrderReference | undefined;
  readonly address?: string | undefined;
  readonly rail: PaymentRail;
  readonly providerId: string;
  readonly currency: PaymentCurrency;
  /** Of the minor units of the payment. */
  readonly decimals: number;
  /** CAIP-19 of what arrived, where a chain shows it. */
  readonly asset?: string | undefined;
  readonly assetLabel?: string | undefined;
  /** False for a token that does not count as the currency. */
  readonly credited?: boolean | undefined;
  readonly amountMinor: bigint;
  readonly feeMinor: bigint;
  readonly feeSchedule: string;
  /** Whether the report makes a failed payment received again. Default: true. */
  readonly reinstates?: boolean | undefined;
  /** Whether the rail guarantees the payment. */
  readonly confirmed: boolean;
  readonly txHash?: string | undefined;
  readonly confirmations?: number | undefined;
  /** The block that contains the payment. */
  readonly block?: BlockRef | undefined;
  readonly metadata?: Metadata | undefined;
  /** When the rail first saw it. */
  readonly seenAt: Date;
  readonly at: Date;
};

/** The decision of the order on a payment, and its time. `sighting` is the number of the sighting of the money that it
 *  is about; 1 by default. */
export type Outcome = { readonly sighting?: number | undefined; readonly at: Date } & (
  | {
      readonly status: 'applied';
      readonly appliedMinor: bigint;
      readonly unappliedMinor: bigint;
      /** A surplus below it is not due for refund. 1 by default. */
      readonly smallestPayableMinor?: bigint | undefined;
    }
  | { readonly status: 'orphan'; readonly orphanReason: OrphanReason }
);

/** How the money of a refund went back, as far as it is known. The values are checked and in canonical form. */
export interface RefundTransfer {
  /** The transaction that returned it. Without a network, the id at a provider. */
  readonly txHash?: string | undefined;
  readonly network?: string | undefined;
  readonly destination?: string | undefined;
}

type NewRefund = RefundTransfer & {
  readonly refundId: string;
  readonly reason?: string | undefined;
  readonly at: Date;
};

export interface RefundAmount {
  readonly amountMinor?: bigint | undefined;
  /** Without an amount. By default the surplus, which has to be due. */
  readonly what?: RefundPart | undefined;
}

/** A part of a refund of an order. It is taken from the applied amount alone. */
export interface OrderRefundPart {
  readonly orderRefundId: string;
  readonly amountMinor: bigint;
}

export type RefundPayment = NewRefund & { readonly type: 'RefundPayment' } & (
    (RefundAmount & { readonly orderRefundId?: undefined }) | OrderRefundPart
  );

/** The merchant will refund from its own wallet. */
export type RequestRefund = NewRefund &
  RefundAmount & {
    readonly type: 'RequestRefund';
    readonly network: string;
    /** CAIP-19 of the coin or token to send. */
    readonly asset: string;
  };

/** Gives a pending refund the address of the payer. */
export type AddressRefund = {
  readonly type: 'AddressRefund';
  readonly refundId: string;
  readonly destination: string;
  /** The declared refund addresses of the merchant on the network. */
  readonly senders: readonly string[];
  /** The height of the chain: transfers up to this block are not the refund. */
  readonly afterHeight: number;
  readonly at: Date;
};

/** Gives a pending refund without a destination a link on which the payer enters it. */
export type IssueRefundClaim = {
  readonly type: 'IssueRefundClaim';
  readonly refundId: string;
  readonly tokenHash: string;
  /** Whether the payment page has the link too. */
  readonly onPage: boolean;
  readonly expiresAt: Date;
  readonly at: Date;
};

/** The payer confirms an address on the claim link. */
export type ClaimRefund = Omit<AddressRefund, 'type'> & {
  readonly type: 'ClaimRefund';
  readonly tokenHash: string;
  /** The time by which links end: 1970 while the clock is not trusted. */
  readonly endsBy: Date;
};

/** The chain shows the transfer of a refund: in a block, and with `isFinal` deep enough. */
export type ReportRefund = {
  readonly type: 'ReportRefund';
  readonly refundId: string;
  readonly transferId: string;
  readonly txHash: string;
  readonly isFinal: boolean;
  readonly at: Date;
};

/** An operator gives unclaimed money to an order of the merchant, or to the merchant alone. */
export type AssignPayment = {
  readonly type: 'AssignPayment';
  readonly merchantId: string;
  readonly orderId?: string | undefined;
  readonly order?: RecordedOrderReference | undefined;
  readonly reason: string;
  /** The person who decided. */
  readonly by: string;
  readonly at: Date;
};

/** An operator states that unclaimed money went back to its sender, all of it. */
export type ReturnPayment = Pick<RefundTransfer, 'txHash'> & {
  readonly type: 'ReturnPayment';
  readonly refundId: string;
  readonly reason: string;
  /** The person who decided. */
  readonly by: string;
  readonly at: Date;
};

export type PaymentCommand =
  | ReceivePayment
  | {
      readonly type: 'ConfirmPayment';
      readonly confirmations?: number | undefined;
      readonly block?: BlockRef | undefined;
      readonly at: Date;
    }
  | { readonly type: 'RecordOutcome'; readonly outcome: Outcome }
  /** The reason defaults to `dropped` before the order applied the payment, and to `reorg` (a chain reorganisation)
   *  after. */
  | { readonly type: 'FailPayment'; readonly failureReason?: string | undefined; readonly at: Date }
  | RefundPayment
  | RequestRefund
  | AddressRefund
  | IssueRefundClaim
  | ClaimRefund
  | ReportRefund
  /** No block contains the transfer of a refund any more. */
  | { readonly type: 'ReopenRefund'; readonly refundId: string; readonly transferId: string; readonly at: Date }
  | { readonly type: 'CancelRefund'; readonly refundId: string; readonly at: Date }
  | AssignPayment
  | ReturnPayment;
