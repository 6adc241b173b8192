import type { DayVolume, VolumeSums } from '@cpg/sdk';
import { subtractAmounts } from '../../lib/amounts.ts';
import { formatDay } from '../../lib/times.ts';
import { locale, t } from '../../texts/index.ts';
import { ListLink } from '../../ui/links.tsx';
import type { Column } from '../../ui/table.tsx';
import { Amount } from '../../ui/values.tsx';

export const dayColumn = (): Column<DayVolume> => ({
  name: t.home.day,
  cell: ({ day }) => formatDay(day, locale),
  text: ({ day }) => day,
});

/** What a report sums. Refunds are subtracted from nothing: `applied_amount` has lost them already. */
export const sumColumns = (): Column<VolumeSums>[] => [
  { name: t.orders.currency, cell: ({ currency }) => currency, text: ({ currency }) => currency },
  {
    name: t.reports.payments,
    align: 'right',
    cell: ({ count, list }) => <ListLink list={list}>{count}</ListLink>,
    text: ({ count }) => String(count),
  },
  amountColumn(
    t.reports.applied,
    ({ applied_amount }) => applied_amount,
    ({ list }) => list,
  ),
  amountColumn(
    t.money.payment.fee,
    ({ fee_amount }) => fee_amount,
    ({ list }) => list,
  ),
  amountColumn(
    t.money.payment.net,
    ({ applied_amount, fee_amount }) => subtractAmounts(applied_amount, fee_amount),
    ({ list }) => list,
  ),
  {
    name: t.reports.refunds,
    align: 'right',
    cell: ({ refunds }) => <ListLink list={refunds.list}>{refunds.count}</ListLink>,
    text: ({ refunds }) => String(refunds.count),
  },
  amountColumn(
    t.reports.refunded,
    ({ refunds }) => refunds.amount,
    ({ refunds }) => refunds.list,
  ),
];

const amountColumn = (
  name: string,
  amountOf: (sums: VolumeSums) => string,
  listOf: (sums: VolumeSums) => string,
): Column<VolumeSums> => ({
  name,
  align: 'right',
  cell: (sums) => (
    <ListLink list={listOf(sums)}>
      <Amount value={amountOf(sums)} />
    </ListLink>
  ),
  text: amountOf,
});
