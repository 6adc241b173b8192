import type { Volume } from '@cpg/sdk';
import { nowMs } from '../../lib/clock.ts';
import { readPeriod, type ReportPeriod } from '../../lib/report-period.ts';
import { valueOf, writeSearch } from '../../lib/search-params.ts';
import { formatDay, timeZone } from '../../lib/times.ts';
import { volumeByDay } from '../../lib/volume.ts';
import { useOnce } from '../../queries.ts';
import { locale, t } from '../../texts/index.ts';
import { useAddress, useSetAddress } from '../../ui/address.ts';
import { Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { VolumeChart } from '../../ui/volume-chart.tsx';
import { dayColumn, sumColumns } from './columns.tsx';
import { Ledger } from './ledger.tsx';
import { PeriodFields } from './period-fields.tsx';
import { ReportTable } from './report-table.tsx';

export const ReportsPage = () => {
  const period = readPeriod(useAddress(), timeZone(), nowMs());
  return (
    <Page title={t.reports.title}>
      <Needs need="overview">
        <PeriodFields period={period} />
        {period.fault === undefined && (
          <>
            <Report period={period} />
            <Ledger period={period} />
          </>
        )}
      </Needs>
    </Page>
  );
};

const Report = ({ period: { from, to, timezone } }: { readonly period: ReportPeriod }) => {
  const query = useOnce<Volume>(`/v1/reports/volume${writeSearch({ from, to, timezone })}`);
  const search = useAddress();
  const setAddress = useSetAddress();
  const file = `${from}_${to}`;
  return (
    <Loaded query={query} rows={8}>
      {(report) =>
        report.totals.length === 0 ? (
          <Section title={t.reports.totals}>
            <Empty>{t.reports.empty}</Empty>
          </Section>
        ) : (
          <>
            <Section title={t.reports.totals} note={t.reports.between(dayOf(from), dayOf(to), timezone)}>
              <ReportTable
                label={t.reports.totals}
                file={`totals_${file}`}
                columns={sumColumns()}
                rows={report.totals.map((sums) => ({ id: sums.currency, ...sums }))}
              />
            </Section>
            <Section title={t.home.volume}>
              <VolumeChart
                volume={volumeByDay(report)}
                currency={valueOf(search, 'currency')}
                onCurrency={(currency) => setAddress({ ...search, currency })}
              />
            </Section>
            <Section title={t.reports.byDay} note={t.reports.note}>
              <ReportTable
                label={t.reports.byDay}
                file={`days_${file}`}
                columns={[dayColumn(), ...sumColumns()]}
                rows={report.days.map((sums) => ({ id: `${sums.day} ${sums.currency}`, ...sums }))}
              />
            </Section>
          </>
        )
      }
    </Loaded>
  );
};

const dayOf = (day: string): string => formatDay(day, locale);
