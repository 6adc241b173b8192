import { z } from 'zod';
import { withExample } from '../example.ts';
import { ItemCurrency, PaymentCurrency } from '../currencies.ts';
import { CreatedAt, EXAMPLE_IDS, OrderRefundId, OwnerId, PaymentId, RefundId, Timestamp } from '../ids.ts';
import { Amount } from '../money.ts';

/** Which part of a payment to refund, instead of an amount. */
export const RefundPart = z.enum(['surplus', 'all']);
export type RefundPart = z.infer<typeof RefundPart>;

/** What is known about the money of a refund. More values may come. */
export const RefundStatus = z.enum(['recorded', 'pending', 'sent', 'settled', 'canceled']);
export type RefundStatus = z.infer<typeof RefundStatus>;

/** How a refund is settled. */
export const RefundSettlement = z.enum(['recorded', 'on_chain']);

/** One refund of a payment, in full or in part: that the merchant paid the money back, or will. */
export const Refund = withExample(
  z.object({
    id: RefundId.describe('The refund: `rfd_` and a ULID.'),
    merchant_id: OwnerId,
    payment_id: PaymentId.describe('The payment that was refunded.'),
    order_id: z.string().describe('The order of the payment, as the payment names it.'),
    order_refund_id: OrderRefundId.optional().describe('The refund of the order that this is a part of, if it is one.'),
    status: RefundStatus.describe(
      '`recorded`: you recorded that you paid the money back; the gateway moved none. A refund with `settle: "on_chain"` is `pending` until a block contains its transfer, then `sent`, and `settled` once the transfer is final; `canceled` if you canceled it, or its payment failed. More values may come: treat one that you do not know as `pending`.',
    ),
    amount: Amount.describe('The amount of this refund.'),
    currency: PaymentCurrency.describe('The currency.'),
    reason: z.string().optional().describe('The reason that the request gave.'),
    tx_hash: z
      .string()
      .optional()
      .describe(
        'The transaction that paid the money back, if the request gave it or the chain shows it. Without `network`, the id at the provider.',
      ),
    asset: z.string().optional().describe('The coin or token that you send (CAIP-19), with `settle: "on_chain"`.'),
    network: z
      .string()
      .optional()
      .describe(
        'The network on which the money went back. Present with `settle: "on_chain"`, if the request gave it, or gave `tx_hash` or `destination` for a payment that a chain shows.',
      ),
    destination: z
      .string()
      .optional()
      .describe('Where the money goes, if a request gave it: an address on `network`; without `network`, your text.'),
    claim_expires_at: Timestamp.optional().describe(
      'Until when the payer can enter the address on the claim link of `POST /v1/refunds/{id}/claim`. Absent without a link, and once there is a `destination`.',
    ),
    created_at: CreatedAt,
    settled_at: Timestamp.optional().describe('When its transfer was final. Absent unless it is `settled`.'),
  }),
  {
    id: EXAMPLE_IDS.refund,
    merchant_id: EXAMPLE_IDS.merchant,
    payment_id: EXAMPLE_IDS.payment,
    order_id: EXAMPLE_IDS.order,
    status: 'recorded',
    amount: '10.500000',
    currency: 'USDC',
    reason: 'one dish was not served',
    tx_hash: '0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b',
    network: 'base',
    destination: '0x52908400098527886E0F7030069857D2E4169EE7',
    created_at: '2026-01-31T15:20:00.000Z',
  },
);
export type Refund = z.infer<typeof Refund>;

/** A refund that waits for its transfer. */
const examplePending = (more: Partial<Refund>): Refund => ({
  id: EXAMPLE_IDS.refund,
  merchant_id: EXAMPLE_IDS.merchant,
  payment_id: EXAMPLE_IDS.payment,
  order_id: EXAMPLE_IDS.order,
  status: 'pending',
  amount: '10.500000',
  currency: 'USDC',
  network: 'ethereum',
  asset: 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  ...more,
  created_at: '2026-01-31T15:20:00.000Z',
});

export const OrderRefundPart = z.object({
  refund_id: RefundId.describe('The refund of the payment: `GET /v1/refunds/{id}`.'),
  payment_id: PaymentId.describe('The payment.'),
  amount: Amount.describe('What of the refund is of this payment.'),
});

/** A refund of an order over its payments: that the merchant paid the money back. */
export const OrderRefund = withExample(
  z.object({
    id: OrderRefundId.describe('The refund of the order: `orf_` and a ULID.'),
    amount: Amount.describe('The amount, in the currency of the order: the sum of `parts`.'),
    requested_amount: z.string().optional().describe('The amount of the request, if it was in an item currency.'),
    requested_currency: ItemCurrency.optional().describe('The currency of `requested_amount`.'),
    reason: z.string().optional().describe('The reason that the request gave.'),
    parts: z.array(OrderRefundPart).describe('The refunds of payments that make it up, the newest payment first.'),
    created_at: CreatedAt,
  }),
  {
    id: EXAMPLE_IDS.orderRefund,
    amount: '2.806000',
    requested_amount: '50.00',
    requested_currency: 'MXN',
    reason: 'one dish was not served',
    parts: [{ refund_id: EXAMPLE_IDS.refund, payment_id: EXAMPLE_IDS.payment, amount: '2.806000' }],
    created_at: '2026-01-31T15:20:00.000Z',
  },
);
export type OrderRefund = z.infer<typeof OrderRefund>;

/** `POST /v1/refunds/{id}/request`: what your wallet sends to pay a refund. */
export const RefundRequest = withExample(
  z.object({
    refund: Refund.describe('The refund.'),
    payment_uri: z
      .string()
      .describe(
        'The transfer as a URI for wallets: open it, or show it as a QR code. BIP21 on Bitcoin, where it names the refund, and EIP-681 on EVM chains.',
      ),
    amount_units: z
      .string()
      .describe(
        'The amount in the smallest units of the asset. Send exactly this amount: another one settles nothing.',
      ),
    decimals: z.int().describe('Decimals of the asset on its chain.'),
    senders: z
      .array(z.string())
      .describe(
        'Your refund addresses. Send from one of them: a transfer from another address settles nothing. On Bitcoin, one input of the transaction has to spend coins of such an address.',
      ),
    transaction: z
      .object({
        chainId: z.string().describe('The number of the chain, in hex digits.'),
        to: z.string().describe('The address that gets the coin, or the contract of the token.'),
        value: z.string().describe('The amount of the coin of the chain in its smallest units, in hex digits.'),
        data: z.string().describe('The call of the contract; `0x` for the coin of the chain.'),
      })
      .optional()
      .describe(
        'The unsigned transaction as `eth_sendTransaction` takes it, on EVM chains. Add `from`: one of `senders`. Absent on Bitcoin, where your wallet chooses the coins to spend.',
      ),
  }),
  {
    refund: examplePending({ destination: '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB' }),
    payment_uri:
      'ethereum:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48@1/transfer?address=0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB&uint256=10500000',
    amount_units: '10500000',
    decimals: 6,
    senders: ['0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'],
    transaction: {
      chainId: '0x1',
      to: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      value: '0x0',
      data: '0xa9059cbb000000000000000000000000dbf03b407c01e7cd3cbea99509d93f8dddc8c6fb0000000000000000000000000000000000000000000000000000000000a037a0',
    },
  },
);
export type RefundRequest = z.infer<typeof RefundRequest>;

/** `POST /v1/refunds/{id}/claim`: the link on which the payer enters the address of a refund. */
export const RefundClaim = withExample(
  z.object({
    claim_url: z
      .string()
      .describe(
        'The page for the payer. Whoever has this link decides who gets the money: send it to the payer alone. It is shown only in this response, and works until `claim_expires_at` of the refund.',
      ),
    refund: Refund.describe('The refund.'),
  }),
  {
    claim_url: 'https://pay.example/pay/refunds/5f0c954d1e3a7b68c2d4e6f8091a2b3c',
    refund: examplePending({ claim_expires_at: '2026-03-02T15:20:00.000Z' }),
  },
);
export type RefundClaim = z.infer<typeof RefundClaim>;
