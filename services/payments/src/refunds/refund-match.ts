import type { Asset } from '@cpg/assets';
import { toUnits } from '@cpg/contracts';
import type { BlockRef, Transfer } from '../chains/chain-source.ts';
import type { PaymentRefund } from '../payment/state.ts';

/** A requested refund as its events say, with its payment. */
export interface RequestedRefund extends PaymentRefund {
  readonly paymentId: string;
  /** Of the minor units. */
  readonly decimals: number;
}

export type MinedTransfer = Pick<Transfer, 'id' | 'txHash' | 'address' | 'asset' | 'units' | 'sender' | 'spends'> & {
  readonly block: BlockRef;
};

/** The refunds that a transfer in a block could be, whoever sent it: exactly their amount, to their destination, and in
 *  no older block than the merchant could send it in. */
export const refundsLike = <R extends RequestedRefund>(
  { address, asset, units, block }: MinedTransfer,
  refunds: readonly R[],
  { decimals }: Pick<Asset, 'decimals'>,
): R[] =>
  refunds.filter(
    (refund) =>
      refund.destination === address &&
      refund.asset === asset &&
      units === toUnits(refund.amountMinor, { scale: refund.decimals, decimals }) &&
      refund.afterHeight !== undefined &&
      block.height > refund.afterHeight,
  );

/** The refund that a transfer pays: the one that has it already, or else the oldest pending one of those, if the money is
 *  its merchant's. So a transfer pays one refund, and a refund takes one transfer. */
export const refundPaidBy = async <R extends RequestedRefund>(
  transfer: MinedTransfer,
  { refunds, isFrom }: { readonly refunds: readonly R[]; readonly isFrom: (refund: R) => Promise<boolean> },
  asset: Pick<Asset, 'decimals'>,
): Promise<R | null> => {
  const taken = refunds.find(({ transferId }) => transferId === transfer.id);
  if (taken) return taken;
  for (const refund of refundsLike(transfer, refunds, asset))
    if (refund.status === 'pending' && (await isFrom(refund))) return refund;
  return null;
};
