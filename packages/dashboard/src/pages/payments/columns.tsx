import type { Payment } from '@cpg/sdk';
import { t, wordFor } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import type { Column } from '../../ui/table.tsx';
import { Amount, Id, Status, Time } from '../../ui/values.tsx';

export const paymentColumns = (): Column<Payment>[] => [
  {
    name: t.money.payment.amount,
    cell: (payment) => (
      <PageLink to={`/payments/${payment.id}`}>
        <Amount value={payment.paid_amount} currency={payment.asset_label ?? payment.currency} />
      </PageLink>
    ),
    text: (payment) => payment.paid_amount,
  },
  {
    name: t.orders.status,
    cell: (payment) => (
      <>
        <Status value={payment.status} words={t.money.paymentStatuses} />{' '}
        {payment.orphan_reason !== undefined && wordFor(t.money.orphanReasons, payment.orphan_reason)}
        {payment.failure_reason}
      </>
    ),
    text: (payment) => wordFor(t.money.paymentStatuses, payment.status),
  },
  {
    name: t.orders.detail.dueBack,
    align: 'right',
    cell: (payment) => payment.due_back_amount !== undefined && <Amount value={payment.due_back_amount} />,
    text: (payment) => payment.due_back_amount ?? '',
  },
  {
    name: t.money.payment.rail,
    cell: (payment) => wordFor(t.money.rails, payment.payment_rail),
    text: (payment) => wordFor(t.money.rails, payment.payment_rail),
  },
  {
    name: t.money.payment.transaction,
    cell: (payment) => payment.tx_hash !== undefined && <Id value={payment.tx_hash} />,
    text: (payment) => payment.tx_hash ?? '',
  },
  {
    name: t.orders.created,
    align: 'right',
    cell: (payment) => <Time at={payment.created_at} />,
    text: (payment) => payment.created_at,
  },
];

export const paymentCsvColumns = (): Column<Payment>[] => [
  { name: 'id', cell: () => null, text: (payment) => payment.id },
  { name: 'order_id', cell: () => null, text: (payment) => payment.order_id },
  { name: t.orders.currency, cell: () => null, text: (payment) => payment.currency },
  ...paymentColumns(),
];
