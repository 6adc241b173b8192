import type { HistoryOrders, HistoryOrdersQuery } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';

interface Row {
  readonly id: string;
  readonly created_at: Date;
}

/** So many orders are looked at for one answer, whatever the merchant has. */
const LOOKED_AT = 2_000;

// By the index of the lists, from old to new. What an order was created at does not change, so a place in this order is a place for good.
const CREATED_UP_TO = `
  select id, created_at, last_event_at from orders.orders
  where merchant_id = $1 and not deleted and created_at <= $2 and (created_at, id) > ($3::timestamptz, $4)
  order by created_at, id`;

/** Orders of a merchant whose life overlaps the range, oldest first. */
export const ordersInRange = async (
  db: Queryable,
  merchantId: string,
  { from, to, after, limit }: HistoryOrdersQuery,
): Promise<HistoryOrders> => {
  const passed = [merchantId, to, ...parsed(after)];
  const { rows } = await db.query<Row>(
    `select id, created_at from (${CREATED_UP_TO} limit ${LOOKED_AT}) as looked
     where last_event_at >= $5 or last_event_at is null order by created_at, id limit $6`,
    [...passed, from, limit],
  );
  const orders = rows.map((row) => ({ id: row.id, place: placeOf(row) }));
  if (orders.length === limit) return { orders, next: orders.at(-1)!.place };
  const looked = await db.query<Row>(`${CREATED_UP_TO} offset ${LOOKED_AT - 1} limit 1`, passed);
  return { orders, next: looked.rows[0] ? placeOf(looked.rows[0]) : null };
};

const placeOf = ({ created_at, id }: Row): string => `${created_at.toISOString()} ${id}`;

const parsed = (place = '-infinity '): [string, string] => {
  const [createdAt = '', id = ''] = place.split(' ');
  return [createdAt, id];
};
