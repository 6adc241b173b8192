import type { Asset } from '@cpg/assets';
import { isAppError } from '@cpg/contracts';
import type { HandleOptions } from '@cpg/event-sourcing';
import { type Logger, newContext } from '@cpg/platform';
import type { ChainSource } from '../chains/chain-source.ts';
import type { Report, SeenTransfer } from '../chains/reading/seen-transfer.ts';
import type { RefundChange } from '../matching/changes.ts';
import type { PaymentCommands } from '../matching/commands.ts';
import { type MinedTransfer, refundPaidBy, refundsLike, type RequestedRefund } from './refund-match.ts';
import type { RefundRow } from './refund-rows.ts';

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
  /** The refunds that go to an address, oldest first. */
  readonly refundsTo: (address: string) => Promise<readonly RefundRow[]>;
  readonly findPayment: PaymentCommands['find'];
  /** Where the sender of a transfer is not part of it. */
  readonly spendsFrom: ChainSource['spendsFrom'];
  readonly changeRefund: RefundChange;
  readonly now: () => Date;
  readonly log: Logger;
}

export const refundReports = (options: RefundReportsOptions): ReportRefundTransfer => {
  const { network, assets, refundsTo, changeRefund, now, log } = options;
  const openRefunds = refundReader(options);
  return async (transfer, report, handleOptions) => {
    const { id: transferId, txHash, block } = transfer;
    const rows = await refundsTo(transfer.address);
    if (rows.length === 0) return null;
    const refunds = await openRefunds(rows, transferId);
    const context = newContext('service:payments');
    if (report.block === null || block === null) {
      const taken = refunds.find((refund) => refund.transferId === transferId);
      if (!taken) return report;
      const { refundId, paymentId, status } = taken;
      if (status === 'settled')
        log.error({ network, refundId, txHash }, 'the transfer of a settled refund left the chain: tell the merchant');
      await changeRefund(paymentId, { type: 'ReopenRefund', refundId, transferId, at: now() }, context, handleOptions);
      return report;
    }
    const asset = assets.find((each) => each.id === transfer.asset)!;
    const mined: MinedTransfer = { ...transfer, block };
    const isRecorded = rows.some(({ resource }) => resource.status === 'recorded' && resource.tx_hash === txHash);
    const isFrom = async (refund: RequestedRefund) => !isRecorded && isSentBy(options, mined, refund.senders ?? []);
    const refund = await refundPaidBy(mined, { refunds, isFrom }, asset);
    if (!refund) {
      // The transfer of a refund that is sent may leave the chain, and this one may be what replaced it.
      const mayBeNeeded = refundsLike(mined, refunds, asset).some(({ status }) => status === 'sent');
      return { ...report, status: mayBeNeeded && !isRecorded ? 'received' : 'ignored' };
    }
    const { refundId, paymentId } = refund;
    const isFinal = report.status === 'confirmed';
    const command = { type: 'ReportRefund', refundId, transferId, txHash, isFinal, at: now() } as const;
    const changed = await changeRefund(paymentId, command, context, handleOptions);
    const status = changed.refunds.find((each) => each.refundId === refundId)?.status;
    // Asked again: a payment that failed may come back.
    return isFinal && status === 'sent' ? { ...report, status: 'received' } : report;
  };
};

/** Reads the refunds that wait for a transfer, or have this one, from their events. Rows can be older after a crash, and
 *  another refund must not take the transfer of one of them. */
const refundReader =
  ({ network, findPayment }: Pick<RefundReportsOptions, 'network' | 'findPayment'>) =>
  async (rows: readonly RefundRow[], transferId: string): Promise<RequestedRefund[]> => {
    const isOpen = ({ resource: { status }, ...row }: RefundRow) =>
      row.network === network && (status === 'pending' || status === 'sent' || row.transferId === transferId);
    const read = async ({ id, paymentId }: RefundRow): Promise<RequestedRefund[]> => {
      try {
        const { refunds, decimals } = await findPayment(paymentId, { fresh: true });
        return refunds.filter(({ refundId }) => refundId === id).map((refund) => ({ ...refund, paymentId, decimals }));
      } catch (error) {
        if (isAppError(error, 'not_found')) return []; // deleted meanwhile
        throw error;
      }
    };
    return (await Promise.all(rows.filter(isOpen).map(read))).flat();
  };

const isSentBy = async (
  { spendsFrom }: Pick<RefundReportsOptions, 'spendsFrom'>,
  { txHash, block, sender, spends = [] }: MinedTransfer,
  senders: readonly string[],
): Promise<boolean> => {
  if (sender !== undefined) return senders.includes(sender);
  return spendsFrom !== undefined && spends.length > 0 && spendsFrom({ txHash, spends, block }, senders);
};
