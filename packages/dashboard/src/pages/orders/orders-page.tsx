import type { Order } from '@cpg/sdk';
import { useAllowed } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { useCurrencyWords } from '../../ui/currencies.ts';
import { ButtonLink } from '../../ui/links.tsx';
import { ListView } from '../../ui/list-view.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Needs } from '../../ui/states.tsx';
import { orderColumns, orderCsvColumns } from './columns.tsx';

export const OrdersPage = () => {
  const mayCreate = useAllowed('createOrders');
  const create = mayCreate && <ButtonLink to="/orders/new">{t.orders.create}</ButtonLink>;
  const currencies = useCurrencyWords();
  return (
    <Page title={t.orders.title} actions={create}>
      <Needs need="readOrders">
        <ListView<Order>
          list="orders"
          label={t.orders.title}
          columns={orderColumns()}
          csvColumns={orderCsvColumns()}
          fields={[
            { kind: 'search', name: 'search', label: t.orders.search, hint: t.orders.searchHint },
            { kind: 'several', name: 'status', label: t.orders.status, words: t.orders.statuses },
            { kind: 'one', name: 'currency', label: t.orders.currency, words: currencies },
            { kind: 'from', name: 'from_date', label: t.list.from },
            { kind: 'to', name: 'to_date', label: t.list.to },
          ]}
          empty={<Empty action={create}>{t.orders.empty}</Empty>}
        />
      </Needs>
    </Page>
  );
};
