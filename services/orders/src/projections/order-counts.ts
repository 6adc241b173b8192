import { OrderStatus } from '@cpg/contracts';
import type { CountTable } from '@cpg/stream-relay';

const byStatus = OrderStatus.options.map((status) => `count(*) filter (where status = '${status}') as ${status}`);

/** The exact numbers of orders that lists use. Triggers keep them; the migrations have their functions. */
export const orderCounts: CountTable = {
  name: 'order_counts',
  primaryKey: ['merchant_id', 'span', 'start', 'currency'],
  recount: (schema) => `
    select merchant_id, span, minute - minute % span as start, currency, count(*) as count, ${byStatus.join(', ')}
    from (select *, floor(extract(epoch from created_at) / 60)::bigint as minute from ${schema}.orders) as orders
    cross join (values (1), (120), (10080)) as spans (span)
    where not deleted and created_at is not null group by 1, 2, 3, 4`,
};
