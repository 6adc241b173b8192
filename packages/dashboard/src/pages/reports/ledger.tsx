import { Button } from '@mantine/core';
import type { AccountBalances, Balances, CurrencyBalances } from '@cpg/sdk';
import type { ReportPeriod } from '../../lib/report-period.ts';
import { writeSearch } from '../../lib/search-params.ts';
import { useOnce } from '../../queries.ts';
import { t } from '../../texts/index.ts';
import { Section } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { Amount } from '../../ui/values.tsx';
import { ReportTable } from './report-table.tsx';

/** The balances of all accounts now, and the download of the movements of the period. */
export const Ledger = ({ period: { from, to, timezone } }: { readonly period: ReportPeriod }) => {
  const query = useOnce<Balances>('/v1/reports/balances');
  const { title, note, download, empty } = t.reports.ledger;
  const report = `/v1/reports/settlements.csv${writeSearch({ from, to, timezone })}`;
  return (
    <Section
      title={title}
      note={note}
      actions={
        <Button component="a" href={report} download variant="default" size="xs">
          {download}
        </Button>
      }
    >
      <Loaded query={query} rows={3}>
        {({ at, currencies }) =>
          currencies.length === 0 ? (
            <Empty>{empty}</Empty>
          ) : (
            <ReportTable
              label={title}
              file={`balances_${at}`}
              columns={columns()}
              rows={currencies.map((balances) => ({ id: balances.currency, ...balances }))}
            />
          )
        }
      </Loaded>
    </Section>
  );
};

/** Without `payer`, which is the sum of the others with a minus. */
const ACCOUNTS = [
  'net',
  'fee',
  'received',
  'surplus',
  'orphan',
  'refunded',
  'returned',
] as const satisfies readonly (keyof AccountBalances)[];

const columns = (): Column<CurrencyBalances>[] => [
  { name: t.orders.currency, cell: ({ currency }) => currency, text: ({ currency }) => currency },
  ...ACCOUNTS.map((account): Column<CurrencyBalances> => ({
    name: t.reports.ledger.accounts[account],
    align: 'right',
    cell: ({ accounts }) => <Amount value={accounts[account]} />,
    text: ({ accounts }) => accounts[account],
  })),
];
