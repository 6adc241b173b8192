import type { DeliveryPage, Order } from '@cpg/sdk';
import { writeSearch } from '../../lib/search-params.ts';
import { useLive } from '../../queries.ts';
import { useAllowed } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { DataTable } from '../../ui/table.tsx';
import { briefDeliveryColumns } from '../webhooks/delivery-columns.tsx';

interface OrderDeliveriesProps {
  readonly order: Order;
  /** The time as of which the order is shown. */
  readonly at: string | undefined;
}

/** The deliveries of the order and its payments. */
export const OrderDeliveries = ({ order, at }: OrderDeliveriesProps) => {
  const query = writeSearch({ limit: 100, sort: 'asc', ...(at !== undefined && { to_date: at }) });
  const isAllowed = useAllowed('readWebhooks');
  const deliveries = useLive<DeliveryPage>(`/v1/orders/${order.id}/deliveries${query}`, { enabled: isAllowed });
  if (!isAllowed) return null;
  return (
    <Section title={t.orders.detail.deliveries} note={t.orders.detail.deliveriesNote}>
      <Loaded query={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{t.orders.detail.noDeliveries}</Empty>
          ) : (
            <DataTable label={t.orders.detail.deliveries} columns={briefDeliveryColumns()} rows={items} />
          )
        }
      </Loaded>
    </Section>
  );
};
