import { PaymentStatus } from '@cpg/contracts';
import { spanCounts } from '@cpg/stream-relay';

const counted = {
  of: 'payments',
  statuses: PaymentStatus.options,
  where: 'not deleted and created_at is not null',
};

export const paymentCounts = [
  spanCounts({ ...counted, name: 'payment_counts', keys: ['currency', 'payment_rail'] }),
  spanCounts({ ...counted, name: 'payment_totals', keys: ['payment_rail'] }),
];

export const refundCounts = [
  spanCounts({ name: 'refund_counts', of: 'refunds', keys: ['currency'] }),
  spanCounts({ name: 'refund_totals', of: 'refunds', keys: [] }),
];
