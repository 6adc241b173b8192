import { PaymentStatus } from '@cpg/contracts';
import type { CountTable } from '@cpg/stream-relay';

const byStatus = PaymentStatus.options.map((status) => `count(*) filter (where status = '${status}') as ${status}`);
const MINUTE = 'floor(extract(epoch from created_at) / 60)::bigint as minute';
const SPANS = '(values (1), (120), (10080)) as spans (span)';

/** The exact numbers of payments that lists use. Triggers keep them; the migrations have their functions. */
export const paymentCounts: CountTable = {
  name: 'payment_counts',
  primaryKey: ['merchant_id', 'span', 'start', 'currency', 'payment_rail'],
  recount: (schema) => `
    select merchant_id, span, minute - minute % span as start, currency, payment_rail, count(*) as count, ${byStatus.join(', ')}
    from (select *, ${MINUTE} from ${schema}.payments) as payments cross join ${SPANS}
    where not deleted and created_at is not null group by 1, 2, 3, 4, 5`,
};

/** The same of refunds. */
export const refundCounts: CountTable = {
  name: 'refund_counts',
  primaryKey: ['merchant_id', 'span', 'start', 'currency'],
  recount: (schema) => `
    select merchant_id, span, minute - minute % span as start, currency, count(*) as count
    from (select *, ${MINUTE} from ${schema}.refunds) as refunds cross join ${SPANS} group by 1, 2, 3, 4`,
};
