import { z } from 'zod';
import { PaymentCurrency } from './currencies.ts';
import { openObject } from './event-definition.ts';
import { MerchantId, OrderId, PaymentId, RefundId, Timestamp } from './ids.ts';
import { LedgerAccount } from './resources/settlement.ts';

/** The names of the streams that keep the ledgers of deleted payments start with this prefix; the id of the payment
 *  follows. */
export const LEDGER_STREAM_PREFIX = 'ledger-';
export const ledgerStreamOf = (paymentId: string): string => `${LEDGER_STREAM_PREFIX}${paymentId}`;

/** The ledger of a payment, recorded before its stream is deleted. It holds nothing personal: no transaction, address or
 *  text. */
export const LedgerKept = z.object({
  type: z.literal('LedgerKept'),
  data: openObject({
    paymentId: PaymentId,
    orderId: OrderId,
    currency: PaymentCurrency,
    /** Of the minor units. */
    decimals: z.int(),
    paymentCreatedAt: Timestamp,
    lines: z.array(
      openObject({
        entry: z.int(),
        line: z.int(),
        account: LedgerAccount,
        /** With a minus for what leaves the account. */
        amountMinor: z.string().regex(/^-?\d+$/),
        merchantId: MerchantId,
        orderId: OrderId,
        /** The name of the event on Kafka. */
        event: z.string(),
        refundId: RefundId.optional(),
        at: Timestamp,
      }),
    ),
    at: Timestamp,
  }),
});
export type LedgerKept = z.infer<typeof LedgerKept>;
