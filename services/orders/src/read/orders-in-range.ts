import type { HistoryOrders, HistoryOrdersQuery } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';

interface Row {
  readonly id: string;
  readonly created_at: Date;
}

/** The number of orders that one query examines. It bounds the query for merchants with many orders. */
const EXAMINED_ORDERS = 2_000;

// Uses the index of the list endpoints. `created_at` never changes, so a cursor stays valid.
const CREATED_UP_TO = `
  select id, created_at, last_event_at from orders.orders
  where merchant_id = $1 and not deleted and created_at <= $2 and (created_at, id) > ($3::timestamptz, $4)
  order by created_at, id`;

/** Orders of a merchant with events in the range, or near it, oldest first. */
export const ordersInRange = async (
  db: Queryable,
  merchantId: string,
  { from, to, after, limit }: HistoryOrdersQuery,
): Promise<HistoryOrders> => {
  const window = [merchantId, to, ...parsed(after)];
  const { rows } = await db.query<Row>(
    `select id, created_at from (${CREATED_UP_TO} limit ${EXAMINED_ORDERS}) as examined
     where last_event_at >= $5 or last_event_at is null order by created_at, id limit $6`,
    [...window, from, limit],
  );
  const orders = rows.map((row) => ({ id: row.id, place: placeOf(row) }));
  if (orders.length === limit) return { orders, next: orders.at(-1)!.place };
  const lastExamined = await db.query<Row>(`${CREATED_UP_TO} offset ${EXAMINED_ORDERS - 1} limit 1`, window);
  return { orders, next: lastExamined.rows[0] ? placeOf(lastExamined.rows[0]) : null };
};

const placeOf = ({ created_at, id }: Row): string => `${created_at.toISOString()} ${id}`;

const parsed = (place = '-infinity '): [string, string] => {
  const [createdAt = '', id = ''] = place.split(' ');
  return [createdAt, id];
};
