import type { Asset } from '@cpg/assets';
import { toUnits } from '@cpg/contracts';
import type { HandleOptions } from '@cpg/event-sourcing';
import { type Logger, newContext } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import type { Report, SeenTransfer } from '../chains/reading/seen-transfer.ts';
import type { RefundChange } from '../matching/changes.ts';
import { type RefundRow, refundsTo } from './refund-rows.ts';

/** Reports a transfer to the destination of a refund, and resolves to the report that was made. Null if no refund goes
 *  to its address. */
export type ReportRefundTransfer = (
  transfer: SeenTransfer,
  report: Report,
  options: Pick<HandleOptions, 'beforeAppend'>,
) => Promise<Report | null>;

export interface RefundReportsOptions {
  readonly network: string;
  readonly assets: readonly Asset[];
  readonly db: Queryable;
  readonly changeRefund: RefundChange;
  readonly now: () => Date;
  readonly log: Logger;
}

export const refundReports =
  ({ network, assets, db, changeRefund, now, log }: RefundReportsOptions): ReportRefundTransfer =>
  async (transfer, report, options) => {
    const { id: transferId, txHash, block } = transfer;
    const refunds = await refundsTo(db, transfer.address);
    if (refunds.length === 0) return null;
    const context = newContext('service:payments');
    const taken = refunds.find((refund) => refund.network === network && refund.transferId === transferId);
    if (report.block === null || block === null) {
      if (!taken) return report;
      const { id: refundId, paymentId } = taken;
      if (taken.resource.status === 'settled')
        log.error({ network, refundId, txHash }, 'the transfer of a settled refund left the chain: tell the merchant');
      await changeRefund(paymentId, { type: 'ReopenRefund', refundId, transferId, at: now() }, context, options);
      return report;
    }
    const asset = assets.find((each) => each.id === transfer.asset)!;
    const isRecorded = refunds.some(({ resource }) => resource.status === 'recorded' && resource.tx_hash === txHash);
    const isMatch = (refund: RefundRow) =>
      refund.network === network && isRefund({ ...transfer, block }, refund, asset) && !isRecorded;
    const refund = taken ?? refunds.find(isMatch);
    if (!refund) return { ...report, status: 'ignored' };
    const { id: refundId, paymentId } = refund;
    const isFinal = report.status === 'confirmed';
    const command = { type: 'ReportRefund', refundId, transferId, txHash, isFinal, at: now() } as const;
    const changed = await changeRefund(paymentId, command, context, options);
    const status = changed.refunds.find((each) => each.refundId === refundId)?.status;
    // Asked again: a payment that failed may come back.
    return isFinal && status === 'sent' ? { ...report, status: 'received' } : report;
  };

/** Whether a transfer in a block is the pending refund: exactly its amount, from the merchant, and not an older one. */
const isRefund = (
  { asset, units, sender, block }: Pick<SeenTransfer, 'asset' | 'units' | 'sender'> & { block: { height: number } },
  refund: RefundRow,
  { decimals }: Asset,
): boolean =>
  refund.resource.status === 'pending' &&
  refund.asset === asset &&
  units === toUnits(refund.amountMinor, { scale: refund.decimals, decimals }) &&
  sender !== undefined &&
  refund.senders.includes(sender) &&
  block.height > refund.afterHeight;
