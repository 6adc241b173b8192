import { chainOf, type OrphanReason, outsideProviderOf, type PaymentState } from '@cpg/contracts';
import { depositsOfOrder, type ExistingOrder, isOfItsCurrency } from './state.ts';

/** By how much the time of a block may be earlier than the payment in it, by namespace of the chain (CAIP-2).
 *  Bitcoin: miners choose the time, up to 2 hours wrong (`TIMESTAMP_WINDOW` in Bitcoin Core's `chain.h`). EVM: a block
 *  has the time of its slot or of its sequencer, seconds before its last payment, and clocks of servers differ. */
const CLOCK_MARGIN_MS: Readonly<Record<string, number>> = { bip122: 2 * 3_600_000, eip155: 60_000 };

/** Why money can never apply to the order by itself, however much is missing. Null if it can. */
export const unfitReason = (order: ExistingOrder, payment: PaymentState): OrphanReason | null => {
  if (isBeforeOrder(order, payment)) return 'before_order';
  if (!isOfItsCurrency(order, payment)) return 'wrong_currency';
  return isFromShownSource(order, payment) ? null : 'wrong_network';
};

/** Whether a chain shows that the money is older than the addresses of the order: it was meant for somebody else. An
 *  address can be given out twice after a database was restored. */
export const isBeforeOrder = ({ assignedAt }: ExistingOrder, { providerId, seenAt }: PaymentState): boolean => {
  const chain = chainOf(providerId);
  if (chain === null || assignedAt === undefined) return false;
  return Date.parse(seenAt) + CLOCK_MARGIN_MS[chain.split(':')[0]!]! < Date.parse(assignedAt);
};

/** An EVM address can receive money on every EVM network, and a provider can name any order. Reports of a sandbox name
 *  neither a chain nor a provider. */
const isFromShownSource = (order: ExistingOrder, { providerId }: PaymentState): boolean => {
  const chain = chainOf(providerId);
  if (chain !== null) return depositsOfOrder(order).some(({ chainId }) => chainId === chain);
  const provider = outsideProviderOf(providerId);
  // Which providers may take the money is not known before the instructions.
  if (provider === null || order.status === 'initialized') return true;
  return order.instructions.some((each) => each.rail === 'gateway_pay' && each.provider === provider);
};
