import type { Order } from '@cpg/sdk';
import { t, wordFor } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import type { Column } from '../../ui/table.tsx';
import { Amount, Status, Time } from '../../ui/values.tsx';

export const orderColumns = (): Column<Order>[] => [
  {
    name: t.orders.reference,
    cell: (order) => (
      <PageLink to={`/orders/${order.id}`} className="breaking">
        {order.external_reference_id}
      </PageLink>
    ),
    text: (order) => order.external_reference_id,
  },
  {
    name: t.orders.status,
    cell: (order) => <Status value={order.status} words={t.orders.statuses} />,
    text: (order) => wordFor(t.orders.statuses, order.status),
  },
  {
    name: t.orders.total,
    align: 'right',
    cell: (order) => <Amount value={order.total_amount} currency={order.currency} />,
    text: (order) => order.total_amount,
  },
  {
    name: t.orders.remaining,
    align: 'right',
    cell: (order) => <Amount value={order.remaining_amount} />,
    text: (order) => order.remaining_amount,
  },
  {
    name: t.orders.created,
    align: 'right',
    cell: (order) => order.created_at !== undefined && <Time at={order.created_at} />,
    text: (order) => order.created_at ?? '',
  },
];

/** More about an order in a CSV file than there is place for on a page. */
export const orderCsvColumns = (): Column<Order>[] => [
  { name: 'id', cell: () => null, text: (order) => order.id },
  { name: t.orders.currency, cell: () => null, text: (order) => order.currency },
  ...orderColumns(),
];
