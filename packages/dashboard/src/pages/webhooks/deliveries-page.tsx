import type { Delivery } from '@cpg/sdk';
import { t } from '../../texts/index.ts';
import { ListView } from '../../ui/list-view.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Needs } from '../../ui/states.tsx';
import { deliveryColumns, deliveryCsvColumns } from './delivery-columns.tsx';

export const DeliveriesPage = () => {
  const names = t.webhooks.deliveries;
  return (
    <Page title={names.title}>
      <Needs need="readWebhooks">
        <ListView<Delivery>
          list="deliveries"
          label={names.title}
          columns={deliveryColumns()}
          csvColumns={deliveryCsvColumns()}
          fields={[
            { kind: 'several', name: 'status', label: names.status, words: names.statuses },
            { kind: 'one', name: 'event_type', label: names.event, words: t.webhooks.eventTypes },
            { kind: 'text', name: 'last_status_code', label: names.code },
            { kind: 'from', name: 'from_date', label: t.list.from },
            { kind: 'to', name: 'to_date', label: t.list.to },
          ]}
          empty={<Empty>{names.empty}</Empty>}
        />
      </Needs>
    </Page>
  );
};
