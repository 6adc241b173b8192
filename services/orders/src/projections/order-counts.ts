import { OrderStatus } from '@cpg/contracts';
import { spanCounts } from '@cpg/stream-relay';

const counted = {
  of: 'orders',
  statuses: OrderStatus.options,
  where: 'not deleted and created_at is not null',
};

export const orderCounts = [
  spanCounts({ ...counted, name: 'order_counts', keys: ['currency'] }),
  spanCounts({ ...counted, name: 'order_totals', keys: [] }),
];
