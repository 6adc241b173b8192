import { LedgerKept, ledgerStreamOf } from '@cpg/contracts';
import { appendOne, deletedStream, endOf, readStream } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from '../payment/state.ts';

/** Records the ledger of a payment on a stream that outlives it. Resolves once it is durable. Idempotent. */
export type KeepLedger = (payment: ExistingPayment) => Promise<void>;

export const ledgerKeeper =
  ({ client, now }: { readonly client: EventStoreDBClient; readonly now: () => Date }): KeepLedger =>
  async (payment) => {
    const stream = ledgerStreamOf(payment.paymentId);
    const event = ledgerOf(payment, now());
    for (;;) {
      const recorded = await readStream(client, stream, LedgerKept);
      if (!recorded) throw deletedStream(stream);
      const last = recorded.at(-1) ?? null;
      // Lines are only added.
      if (last?.event.data.lines.length === event.data.lines.length) return;
      if (await appendOne(client, stream, event, endOf(stream, last), 'service:payments')) return;
    }
  };

/** Without the lines from before the payment was assigned: they add up to zero, and name its address. */
const ledgerOf = ({ postings, ...payment }: ExistingPayment, at: Date): LedgerKept => ({
  type: 'LedgerKept',
  data: {
    paymentId: payment.paymentId,
    orderId: payment.orderId,
    currency: payment.currency,
    decimals: payment.decimals,
    paymentCreatedAt: payment.createdAt,
    lines: postings
      .filter(({ merchantId }) => merchantId !== UNCLAIMED_MERCHANT)
      .map(({ amountMinor, refundId, ...line }) => ({
        ...line,
        amountMinor: String(amountMinor),
        ...(refundId !== undefined && { refundId }),
      })),
    at: at.toISOString(),
  },
});
