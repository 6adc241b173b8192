import { PaymentStatus } from '@cpg/contracts';
import { spanCounts } from '@cpg/stream-relay';

export const paymentCounts = spanCounts({
  name: 'payment_counts',
  of: 'payments',
  keys: ['currency', 'payment_rail'],
  statuses: PaymentStatus.options,
  where: 'not deleted and created_at is not null',
});

export const refundCounts = spanCounts({ name: 'refund_counts', of: 'refunds', keys: ['currency'] });
