import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from '../currencies.ts';
import { MerchantId, OrderId, OrderRefundId, PaymentId, RefundId } from '../ids.ts';
import { Amount, AmountDto, Decimals, Minor } from '../money.ts';
import { AssignedInstruction } from '../recorded-values.ts';
import { RailNetwork } from '../resources/currencies.ts';
import { MetadataDto } from '../resources/metadata.ts';
import { Order } from '../resources/order.ts';
import { BlockRef, Payment } from '../resources/payment.ts';
import { Refund, RefundPart, RefundSettlement } from '../resources/refund.ts';
import { PaymentOutcome } from './orders.ts';

// Calls that the payments service answers. A payable is a deposit address or a payment reference: where an order can be
// paid. Networks are named as in the asset file, like `ethereum`, unless a comment says CAIP.

/** `POST /instructions` -> 200 Instructions. Assigns payables to an order. Idempotent by order id: the same order gets
 *  the same addresses. */
export const InstructionsCall = z.object({
  order_id: OrderId,
  merchant_id: MerchantId,
  currency: PaymentCurrency,
  rails: z.array(PaymentRail).min(1),
  /** The total of the order, in minor units with these decimals. */
  amount_minor: Minor,
  decimals: Decimals,
});
export type InstructionsCall = z.infer<typeof InstructionsCall>;

/** For how long after a call the orders service may record an order with the payables that the call assigned or leased.
 *  That service counts by its monotonic clock, from before it sends the call: so its lease ends before that of
 *  payments. */
export const ADDRESS_LEASE_MS = 10 * 60_000;

export const Instructions = z.object({ instructions: z.array(AssignedInstruction) });
export type Instructions = z.infer<typeof Instructions>;

const MAX_LEASED = 256;

/** `POST /stock` -> 200 Stock. Leases payables in advance, so that the orders service creates orders without a call. No
 *  other call gets the same payables, unless their lease ended and no order has them. Not idempotent: payables of a
 *  lost answer stay unused until their lease ends. */
export const StockCall = z.object({
  /** How many addresses, by `stockNameOf`: of a network, or of a merchant's account on it. */
  addresses: z.record(z.string(), z.int().min(1).max(MAX_LEASED)),
  /** How many payment references of each provider of `gateway_pay`. */
  references: z.int().min(0).max(MAX_LEASED),
});
export type StockCall = z.infer<typeof StockCall>;

export const LeasedAddress = z.object({
  address: z.string(),
  /** BIP32 fingerprint of the account xpub that produced the address, and the path below it. */
  derivation: z.object({ fingerprint: z.string(), path: z.string() }),
});
export type LeasedAddress = z.infer<typeof LeasedAddress>;

export const LeasedReference = z.object({
  payment_reference: z.string(),
  payment_url: z.string(),
  /** The networks whose addresses take the money: the order adds one of each that can take its
   *  amount, at least one. Absent: the reference needs no address. */
  networks: z.array(z.string()).optional(),
});
export type LeasedReference = z.infer<typeof LeasedReference>;

export const Stock = z.object({
  /** By the names of the call. A name that payments does not have is absent. */
  addresses: z.record(z.string(), z.array(LeasedAddress)),
  /** By provider; all providers are present. Null if one of them has to register each order: then no reference can be
   *  leased in advance. */
  references: z.record(z.string(), z.array(LeasedReference)).nullable(),
});
export type Stock = z.infer<typeof Stock>;

/** What a rail takes of one currency. */
export const RailOffer = z.object({
  currency: PaymentCurrency,
  /** Whether new orders can be paid with it now. */
  is_available: z.boolean(),
  /** The smallest total, in the currency. */
  minimum_amount: Amount,
  networks: z.array(RailNetwork),
});
export type RailOffer = z.infer<typeof RailOffer>;

/** `GET /availability` -> 200 Availability. The currencies and networks that new orders can be paid with. */
export const Availability = z.object({
  /** By network: for how many ms after the call was sent a new order may show addresses on it. A network is
   *  absent while it is unavailable: no process reads its newest blocks. */
  networks: z.record(z.string(), z.int().positive()),
  /** What each rail takes, on networks or through a provider. */
  offers: z.record(PaymentRail, z.array(RailOffer)),
});
export type Availability = z.infer<typeof Availability>;

/** Blocks from the payment's own one to the tip of the chain: 0 before it is mined, 1 in the newest
 *  block. */
const Confirmations = z.int().nonnegative();

/** `POST /payments` -> 201 RegisteredPayment, also for a repeat. A rail reports a payment that names its order or its
 *  deposit address. The same (rail, provider id) again is the same payment; with another order, address, amount or
 *  currency it is 409 `payment_conflict`. A repeat for a failed payment means that the rail saw the money again: the
 *  status becomes `received`, unless `reinstates` is false. A chain reports each deposit as `crypto_deposit`; it is
 *  recorded as a payment of `gateway_pay` if the address belongs to a payment page. */
export const RegisterPaymentCall = z
  .object({
    order_id: z.string().min(1).max(128).optional(),
    address: z.string().min(1).max(128).optional(),
    rail: PaymentRail,
    provider_id: z.string().min(1).max(256),
    amount: Amount,
    currency: PaymentCurrency,
    /** CAIP-19 of what arrived, where a chain shows it. Ignored in a repeat, like the next two. */
    asset: z.string().min(1).max(256).optional(),
    /** The name that wallets show for it, where it is not the currency. */
    asset_label: z.string().min(1).max(32).optional(),
    /** False for a token that counts as the currency only if the order asked for that token. True by default. */
    credited: z.boolean().optional(),
    confirmed: z.boolean(),
    /** Whether this report returns a failed payment to `received`; true by default. */
    reinstates: z.boolean().optional(),
    tx_hash: z.string().min(1).max(256).optional(),
    /** When the rail first saw the money: the time of its block, or of an earlier sighting. By
     *  default, the time of the call. An instant after the call counts as the time of the call, because
     *  clocks of miners run ahead. The order compares it with its deadline and, if a chain shows the
     *  money, with the assignment of its addresses. Ignored in a repeat. */
    seen_at: z.iso.datetime().optional(),
    /** The block that contains the payment; absent before it is mined. A repeat with another block,
     *  or none, is the same payment in its new place. */
    block: BlockRef.optional(),
    confirmations: Confirmations.optional(),
    metadata: MetadataDto.optional(),
  })
  .refine(({ order_id, address }) => (order_id === undefined) !== (address === undefined), {
    path: ['order_id'],
    message: 'give either the order id or the address, not both',
  });
export type RegisterPaymentCall = z.infer<typeof RegisterPaymentCall>;

/** `POST /payments/:id/confirmation` -> 200 RegisteredPayment. The rail confirms the payment.
 *  Idempotent; 409 `payment_conflict` for a failed payment. */
export const ConfirmationCall = z.object({ confirmations: Confirmations.optional(), block: BlockRef.optional() });
export type ConfirmationCall = z.infer<typeof ConfirmationCall>;

/** `POST /payments/:id/failure` -> 200 RegisteredPayment. The rail dropped the payment, or reversed it after it was
 *  applied. Idempotent; 409 `payment_conflict` for a refunded payment. The default reason is `dropped`, or `reorg`
 *  if the order had applied or orphaned the payment. */
export const FailureCall = z.object({ failure_reason: z.string().optional() });
export type FailureCall = z.infer<typeof FailureCall>;

/** `POST /payments/:id/refunds` -> 200 RegisteredPayment. Records a refund of `amount`, of all that is left, or of the
 *  surplus, which is the default. Idempotent by refund id. 404 for another merchant's payment; 400
 *  `refund_amount_required` if neither is given and there is no surplus; 409 `nothing_to_refund` if nothing
 *  is left, `refund_too_large` for more than is left, `payment_conflict` for a received or failed
 *  payment; 400 with the path `amount` if the amount has no valid form or too many decimals. `order` is
 *  null also while the orders service is unavailable: it then receives the refund from Kafka. */
export const RefundCall = z.object({
  merchant_id: MerchantId,
  refund_id: RefundId,
  amount: AmountDto.optional(),
  /** Only without `amount`. */
  what: RefundPart.optional(),
  reason: z.string().optional(),
  /** `on_chain`: reserves the amount for a transfer from a refund address of the merchant. Then 400 with the path
   *  `settle`, `network` or `destination` for what does not fit, and 409 `payment_conflict` without a refund address. */
  settle: RefundSettlement.optional(),
  tx_hash: z.string().min(1).max(256).optional(),
  network: z.string().min(1).max(64).optional(),
  destination: z.string().min(1).max(256).optional(),
});
export type RefundCall = z.infer<typeof RefundCall>;

/** `POST /refunds/:id/request` -> 200 RefundRequest. Sets the destination if the call has one, and tells what the
 *  merchant's wallet has to send. Idempotent. 404 for another merchant's refund; 400 with the path `destination`; 409
 *  `payment_conflict` unless the refund is pending. */
export const RefundRequestCall = z.object({ merchant_id: MerchantId, destination: z.string().optional() });
export type RefundRequestCall = z.infer<typeof RefundRequestCall>;

/** `POST /refunds/:id/cancel` -> 200 Refund. Idempotent; 409 `payment_conflict` unless the refund is pending. */
export const CancelRefundCall = z.object({ merchant_id: MerchantId });

/** `POST /refunds/:id/claim` -> 200 IssuedRefundClaim. The link on which the payer can enter the destination. It replaces
 *  an earlier one. Idempotent by its hash. 404 for another merchant's refund; 409 `payment_conflict` unless the refund is
 *  pending and has no destination. */
export const IssueRefundClaimCall = z.object({
  merchant_id: MerchantId,
  /** SHA-256 of the token in the link, in hexadecimal. */
  token_hash: z.string().regex(/^[\da-f]{64}$/),
  /** Whether the payment page of the order has it too. */
  show_on_page: z.boolean(),
});
export type IssueRefundClaimCall = z.infer<typeof IssueRefundClaimCall>;

export const IssuedRefundClaim = z.object({
  refund: Refund,
  /** Public address of the gateway, which serves the page of the link. */
  public_url: z.string(),
});
export type IssuedRefundClaim = z.infer<typeof IssuedRefundClaim>;

/** `GET /claims/:hash` -> 200 ClaimedRefund. The refund of the last claim link with this hash. 404 without one. */
export const ClaimedRefund = z.object({
  refund: Refund,
  /** The name that wallets show for its asset, where it is not the currency. */
  asset_label: z.string().optional(),
  /** Address of the block explorer of its network, where there is one. */
  explorer: z.string().optional(),
  on_page: z.boolean(),
  is_expired: z.boolean(),
});
export type ClaimedRefund = z.infer<typeof ClaimedRefund>;

/** Why an address cannot get a refund: it has no form of the network, a wrong checksum, is that of nobody, of another
 *  network, of a token, or of the merchant or this gateway. */
export const AddressFault = z.enum(['form', 'checksum', 'zero', 'other_network', 'token', 'not_of_payer']);
export type AddressFault = z.infer<typeof AddressFault>;

/** `POST /claims/:hash/check` and `/claims/:hash/confirm` -> 200 CheckedAddress. Both check the address; the second one
 *  records it as the destination, once. Idempotent. 404 without such a link; 409 `payment_conflict` if the link has
 *  ended, or the refund got another address or takes none. */
export const ClaimAddressCall = z.object({ address: z.string().max(256) });
export type ClaimAddressCall = z.infer<typeof ClaimAddressCall>;

export const CheckedAddress = z.union([
  z.object({
    /** In its canonical form. */
    destination: z.string(),
    /** Whether a wrong character would have been noticed. */
    has_checksum: z.boolean(),
  }),
  z.object({ fault: AddressFault }),
]);
export type CheckedAddress = z.infer<typeof CheckedAddress>;

/** `POST /refundable` -> 200 RefundableOfOrder. What is left of the applied amount of each of these payments,
 *  after what refunds have taken or reserved, and the parts of refunds of the order that it has recorded. `open_refund`
 *  is one of its refunds that waits for its transfer. */
export const RefundableCall = z.object({ payment_ids: z.array(PaymentId) });
export type RefundableCall = z.infer<typeof RefundableCall>;
export const RefundableOfOrder = z.object({
  payments: z.array(
    z.object({
      payment_id: PaymentId,
      left_minor: Minor,
      recorded_parts: z.array(RefundId),
      open_refund: RefundId.optional(),
    }),
  ),
});
export type RefundableOfOrder = z.infer<typeof RefundableOfOrder>;

/** `POST /order-refunds` -> 204. Records the parts of a refund that an order has decided. Idempotent; a part that its
 *  payment cannot take is left out. Kafka brings the same. */
export const OrderRefundCall = z.object({
  order_refund_id: OrderRefundId,
  reason: z.string().optional(),
  parts: z.array(z.object({ refund_id: RefundId, payment_id: PaymentId, amount_minor: Minor })),
});
export type OrderRefundCall = z.infer<typeof OrderRefundCall>;

/** The call for what an order decided: its state has amounts as bigint, its message as text. */
export const orderRefundCallOf = ({
  orderRefundId,
  reason,
  parts,
}: {
  readonly orderRefundId: string;
  readonly reason?: string | undefined;
  readonly parts: readonly {
    readonly refundId: string;
    readonly paymentId: string;
    readonly amountMinor: bigint | string;
  }[];
}): OrderRefundCall => ({
  order_refund_id: orderRefundId,
  reason,
  parts: parts.map(({ refundId, paymentId, amountMinor }) => ({
    refund_id: refundId,
    payment_id: paymentId,
    amount_minor: String(amountMinor),
  })),
});

/** A payment after a call, and its order after the payment was offered to it. `order` is null if the payment names no
 *  known order. */
export const RegisteredPayment = z.object({ payment: Payment, order: Order.nullable() });
export type RegisteredPayment = z.infer<typeof RegisteredPayment>;

/** `POST /outcomes` -> 204. The decisions of an order on its payments (capture, cancellation,
 *  expiry). Idempotent. */
export const OutcomesCall = z.object({ outcomes: z.array(PaymentOutcome) });
export type OutcomesCall = z.infer<typeof OutcomesCall>;

/** `POST /orders/:id/unsettled-payment` -> 200 UnsettledPayment. Finds a payment that forbids to delete the order, to
 *  cancel it if unpaid, and to change its items: its status is `received` or `orphan`, and it is not in
 *  `held_by_order`, the payments that the order itself decides on; or its refund `refund_id` waits for its transfer.
 *  `payment_id` is null if there is none. */
export const UnsettledPaymentCall = z.object({ held_by_order: z.array(PaymentId) });
export type UnsettledPaymentCall = z.infer<typeof UnsettledPaymentCall>;

export const UnsettledPayment = z.object({ payment_id: PaymentId.nullable(), refund_id: RefundId.optional() });
export type UnsettledPayment = z.infer<typeof UnsettledPayment>;

/** `GET /orders/:id/payments` -> 200. Every payment of the order, also those that it does not decide on. */
export const PaymentsOfOrder = z.object({ payment_ids: z.array(PaymentId) });
export type PaymentsOfOrder = z.infer<typeof PaymentsOfOrder>;

/** `POST /chains/waiting` -> 200 ChainsWaiting. Asked before an order expires: which of these networks may still show a
 *  payment to one of the addresses that was made at or before `at`. */
export const ChainsWaitingCall = z.object({
  networks: z.array(z.string()).min(1).max(64),
  addresses: z.array(z.string()).max(256),
  at: z.iso.datetime(),
});
export type ChainsWaitingCall = z.infer<typeof ChainsWaitingCall>;

/** `waiting_for` names the networks that were not read up to `at`, and those that were read and have an unreported
 *  transfer to one of the addresses. `unreported` repeats the latter: orders with other addresses need not wait for
 *  them. Absent in answers of earlier versions. */
export const ChainsWaiting = z.object({ waiting_for: z.array(z.string()), unreported: z.array(z.string()).optional() });
export type ChainsWaiting = z.infer<typeof ChainsWaiting>;

/** `POST /providers/waiting` -> 200 ProvidersWaiting. Asked before an order expires: payments queries outside providers
 *  for the payments of the references and records them. The answer names the providers that did not show everything:
 *  ask again later. */
export const ProvidersWaitingCall = z.object({
  references: z
    .array(z.object({ provider: z.string(), reference: z.string() }))
    .min(1)
    .max(8),
});
export type ProvidersWaitingCall = z.infer<typeof ProvidersWaitingCall>;

export const ProvidersWaiting = z.object({ waiting_for: z.array(z.string()) });
export type ProvidersWaiting = z.infer<typeof ProvidersWaiting>;

/** `DELETE /orders/:id/payments` -> 204. Deletes the payments of a deleted order. Idempotent. */

/** A deposit address that payments derived again from its account and compared. */
export const PageDeposit = z.object({
  /** The rail whose instruction shows it. */
  rail: PaymentRail,
  network: z.string(),
  /** CAIP-2. */
  chain_id: z.string(),
  /** CAIP-19. */
  asset: z.string(),
  /** The name that wallets show for the asset, where it is not the currency. */
  asset_label: z.string().optional(),
  /** The names of tokens on the network that a payer could mistake for it, and that do not pay the order. */
  not_tokens: z.array(z.string()).optional(),
  address: z.string(),
  /** Decimals of the asset on its chain. */
  decimals: z.int(),
  required_confirmations: z.int(),
  /** The block explorer of the network. It shows a transaction at `/tx/<hash>`. */
  explorer: z.string().optional(),
});
export type PageDeposit = z.infer<typeof PageDeposit>;

/** `GET /pages/:reference` of payments -> 200 PaymentPageAddresses, which never change. It omits an
 *  address that differs from its derivation. 404: unknown, deleted, or of an outside provider. */
export const PaymentPageAddresses = z.object({
  order_id: OrderId,
  merchant_id: MerchantId,
  deposits: z.array(PageDeposit),
});
export type PaymentPageAddresses = z.infer<typeof PaymentPageAddresses>;
