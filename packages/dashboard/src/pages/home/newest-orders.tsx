import type { OrderPage } from '@cpg/sdk';
import { useLive } from '../../queries.ts';
import { t } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { DataTable } from '../../ui/table.tsx';
import { orderColumns } from '../orders/columns.tsx';

export const NewestOrders = () => {
  const orders = useLive<OrderPage>('/v1/orders?limit=5');
  return (
    <Section title={t.home.newest} actions={<PageLink to="/orders">{t.home.allOrders}</PageLink>}>
      <Loaded query={orders}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{t.home.noOrdersYet}</Empty>
          ) : (
            <DataTable label={t.home.newest} columns={orderColumns()} rows={items} />
          )
        }
      </Loaded>
    </Section>
  );
};
