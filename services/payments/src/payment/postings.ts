import { LedgerAccount, messageTypeOf, paymentBreakdown, type PaymentEvent, type PaymentState } from '@cpg/contracts';

/** One line of double-entry bookkeeping: money of a payment that enters an account, or leaves it. The lines of an entry
 *  add up to zero. */
export interface Posting {
  /** Counts the entries of the payment, from 1. */
  readonly entry: number;
  /** Counts the lines of the entry, from 1. */
  readonly line: number;
  readonly account: LedgerAccount;
  /** Minor units of the payment: positive for money that enters the account. */
  readonly amountMinor: bigint;
  readonly merchantId: string;
  readonly orderId: string;
  /** The name of the event on Kafka. */
  readonly event: string;
  readonly refundId?: string | undefined;
  readonly at: string;
}

/** A payment with its ledger, oldest line first. */
interface Ledgered extends PaymentState {
  readonly postings: readonly Posting[];
}

/** Money by account, in minor units. */
type Position = Readonly<Record<LedgerAccount, bigint>>;

/** Where the money of a payment is. The accounts add up to zero: `payer` is what came from outside. The fee is owed once
 *  the money is applied, and stays owed when it is refunded; it ends with money that fails or becomes an orphan. */
export const positionOf = (payment: PaymentState): Position => {
  const { received, applied, unapplied, orphaned, failed, refunded } = paymentBreakdown(payment);
  const fee = payment.appliedAt === undefined ? 0n : payment.feeMinor;
  return {
    payer: -payment.amountMinor,
    received,
    net: applied - fee,
    fee,
    surplus: unapplied,
    orphan: orphaned,
    refunded,
    returned: failed,
  };
};

const NOTHING = Object.fromEntries(LedgerAccount.options.map((account) => [account, 0n])) as Position;

/** The payment with the entry that an event adds to its ledger; `before` is null for the first event. Most events move
 *  no money and add none. An assignment closes the accounts of the earlier owner and opens those of the new one. */
export const withPostings = <P extends Ledgered>(before: P | null, after: P, event: PaymentEvent): P => {
  if (before === null) return posted(after, event, linesOf(after, NOTHING, positionOf(after)));
  const isSameOwner = before.merchantId === after.merchantId && before.orderId === after.orderId;
  if (isSameOwner) return posted(after, event, linesOf(after, positionOf(before), positionOf(after)));
  return posted(after, event, [
    ...linesOf(before, positionOf(before), NOTHING),
    ...linesOf(after, NOTHING, positionOf(after)),
  ]);
};

type Line = Pick<Posting, 'account' | 'amountMinor' | 'merchantId' | 'orderId'>;

const linesOf = ({ merchantId, orderId }: PaymentState, before: Position, after: Position): Line[] =>
  LedgerAccount.options.flatMap((account) => {
    const amountMinor = after[account] - before[account];
    return amountMinor === 0n ? [] : [{ account, amountMinor, merchantId, orderId }];
  });

const posted = <P extends Ledgered>(payment: P, event: PaymentEvent, lines: readonly Line[]): P => {
  if (lines.length === 0) return payment;
  const entry = (payment.postings.at(-1)?.entry ?? 0) + 1;
  const refundId = event.type === 'PaymentRefunded' ? event.data.refundId : undefined;
  const what = { entry, event: messageTypeOf(event.type)!, refundId, at: event.data.at };
  return {
    ...payment,
    postings: [...payment.postings, ...lines.map((line, index) => ({ ...line, ...what, line: index + 1 }))],
  };
};
