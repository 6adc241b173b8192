import { chainFacts, transactionUrl } from '@cpg/assets';
import {
  decimalsIn,
  chainOf,
  type CheckoutPayment,
  type CheckoutPaymentState,
  fromMinor,
  type Order,
  type OrphanReason,
  type PageDeposit,
  type Payment,
} from '@cpg/contracts';

/** How deep a transfer is in its chain. */
export interface Depth {
  readonly confirmations: number;
  /** Null until payments reported it. */
  readonly required: number | null;
}

/** By `provider_id` of the payment. */
export type Depths = ReadonlyMap<string, Depth>;

/** The payments of an order as its payer sees them. */
export const payerPayments = (
  { payments }: Pick<Order, 'payments'>,
  deposits: readonly PageDeposit[],
  depths: Depths,
): CheckoutPayment[] =>
  payments.filter(isOfPayer).map((payment) => {
    const { paid_amount, currency, asset_label, provider_id, tx_hash, created_at } = payment;
    const deposit = depositOf(payment, deposits);
    const zero = fromMinor(0n, decimalsIn(paid_amount));
    return {
      amount: paid_amount,
      currency,
      ...(asset_label && { asset_label }),
      state: stateOf(payment, deposit),
      ...(payment.orphan_reason && { orphan_reason: payment.orphan_reason }),
      due_back: payment.due_back_amount ?? zero,
      returned: payment.refunded_amount ?? zero,
      ...(deposit && { network_name: chainFacts(deposit.chain_id, deposit.network).title }),
      ...(tx_hash && { tx_hash }),
      ...(tx_hash && deposit?.explorer && { tx_url: transactionUrl(deposit, tx_hash) }),
      // Later ones would change the page with each block.
      ...(payment.status === 'received' && deposit && confirmationsOf(depths.get(provider_id), deposit)),
      seen_at: created_at,
    };
  });

/** The deposit whose chain reported the payment. */
export const depositOf = ({ provider_id }: Pick<Payment, 'provider_id'>, deposits: readonly PageDeposit[]) =>
  deposits.find(({ chain_id }) => provider_id.startsWith(`${chain_id}/`));

const confirmationsOf = (depth: Depth | undefined, { required_confirmations }: PageDeposit) => {
  const required = depth?.required ?? required_confirmations;
  return {
    confirmations: Math.min(depth?.confirmations ?? 0, required),
    required_confirmations: required,
  };
};

/** Somebody else sent money from before the order. */
export const isOfPayer = ({ orphan_reason }: Payment): boolean => orphan_reason !== 'before_order';

const stateOf = (
  { status, orphan_reason, provider_id }: Payment,
  deposit: PageDeposit | undefined,
): CheckoutPaymentState => {
  switch (status) {
    case 'received':
      return chainOf(provider_id) === null || deposit ? 'seen' : 'wrong_network';
    case 'applied':
      return 'counted';
    case 'orphan':
      return isToAccept(orphan_reason) ? orphan_reason : 'not_counted';
    case 'refunded':
      return 'returned';
    case 'failed':
      return 'failed';
  }
};

/** Whether the merchant may accept an orphan with this reason instead of returning it. */
export const isToAccept = (reason: OrphanReason | undefined) =>
  reason === 'late' || reason === 'insufficient' || reason === 'wrong_network';
