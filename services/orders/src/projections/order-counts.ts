import { OrderStatus } from '@cpg/contracts';
import { spanCounts } from '@cpg/stream-relay';

export const orderCounts = spanCounts({
  name: 'order_counts',
  of: 'orders',
  keys: ['currency'],
  statuses: OrderStatus.options,
  where: 'not deleted and created_at is not null',
});
