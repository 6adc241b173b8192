import { Group } from '@mantine/core';
import type { Refund } from '@cpg/sdk';
import { t, wordFor } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import type { Column } from '../../ui/table.tsx';
import { Amount, Id, Status, Time } from '../../ui/values.tsx';
import { RefundActions } from './actions.tsx';

export const refundColumns = (): Column<Refund>[] => [
  {
    name: t.money.refund.amount,
    cell: (refund) => <Amount value={refund.amount} currency={refund.currency} strong />,
    text: (refund) => refund.amount,
  },
  {
    name: t.money.refund.status,
    cell: (refund) => <Status value={refund.status} words={t.money.refundStatuses} />,
    text: (refund) => wordFor(t.money.refundStatuses, refund.status),
  },
  {
    name: t.money.refund.payment,
    cell: (refund) => <PageLink to={`/payments/${refund.payment_id}`}>{t.money.paymentTitle}</PageLink>,
    text: (refund) => refund.payment_id,
  },
  {
    name: t.money.refund.destination,
    cell: (refund) => refund.destination !== undefined && <Id value={refund.destination} />,
    text: (refund) => refund.destination ?? '',
  },
  {
    name: t.money.refund.proof,
    cell: (refund) => refund.tx_hash !== undefined && <Id value={refund.tx_hash} />,
    text: (refund) => refund.tx_hash ?? '',
  },
  {
    name: t.money.refund.created,
    cell: (refund) => <Time at={refund.created_at} />,
    text: (refund) => refund.created_at,
  },
  {
    name: t.list.actions,
    align: 'right',
    cell: (refund) =>
      refund.status === 'pending' && (
        <Group gap={4} justify="flex-end">
          <RefundActions refund={refund} />
        </Group>
      ),
  },
];

export const refundCsvColumns = (): Column<Refund>[] => [
  { name: 'id', cell: () => null, text: (refund) => refund.id },
  { name: t.orders.currency, cell: () => null, text: (refund) => refund.currency },
  ...refundColumns(),
];
