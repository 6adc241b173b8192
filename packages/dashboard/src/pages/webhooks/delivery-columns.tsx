import type { Delivery } from '@cpg/sdk';
import { t, wordFor } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import type { Column } from '../../ui/table.tsx';
import { Status, Time } from '../../ui/values.tsx';

export const deliveryColumns = (): Column<Delivery>[] => {
  const names = t.webhooks.deliveries;
  return [
    {
      name: names.event,
      cell: (delivery) => (
        <PageLink to={`/deliveries/${delivery.webhook_id}/${delivery.id}`}>
          {wordFor(t.webhooks.eventTypes, delivery.event_type)}
        </PageLink>
      ),
      text: (delivery) => delivery.event_type,
    },
    {
      name: names.status,
      cell: (delivery) => <Status value={delivery.status} words={names.statuses} />,
      text: (delivery) => wordFor(names.statuses, delivery.status),
    },
    {
      name: names.code,
      align: 'right',
      cell: (delivery) => delivery.last_status_code,
      text: (delivery) => String(delivery.last_status_code ?? ''),
    },
    {
      name: names.attempts,
      align: 'right',
      cell: (delivery) => delivery.attempt_count,
      text: (delivery) => String(delivery.attempt_count),
    },
    {
      name: names.next,
      align: 'right',
      cell: (delivery) => delivery.next_attempt_at !== undefined && <Time at={delivery.next_attempt_at} />,
      text: (delivery) => delivery.next_attempt_at ?? '',
    },
    {
      name: names.created,
      align: 'right',
      cell: (delivery) => <Time at={delivery.created_at} />,
      text: (delivery) => delivery.created_at,
    },
  ];
};

/** Where there is little place: the event, and how it ended. */
export const briefDeliveryColumns = (): Column<Delivery>[] => deliveryColumns().slice(0, 3);

export const deliveryCsvColumns = (): Column<Delivery>[] => [
  { name: 'id', cell: () => null, text: (delivery) => delivery.id },
  { name: 'webhook_id', cell: () => null, text: (delivery) => delivery.webhook_id },
  { name: 'event_id', cell: () => null, text: (delivery) => delivery.event_id },
  ...deliveryColumns(),
];
