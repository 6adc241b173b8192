import { SegmentedControl, Table } from '@mantine/core';
import { formatAmount, isZero, pixels } from '../lib/amounts.ts';
import { formatDay } from '../lib/times.ts';
import type { DayVolume } from '../lib/volume.ts';
import { locale, t } from '../texts/index.ts';
import { DayChart } from './day-chart.tsx';
import { ListLink } from './links.tsx';
import { Empty } from './states.tsx';
import { Amount } from './values.tsx';

interface VolumeChartProps {
  /** By currency. */
  readonly volume: ReadonlyMap<string, readonly DayVolume[]>;
  /** The currency to show. Another one than those of `volume` is the first of them. */
  readonly currency: string | undefined;
  readonly onCurrency: (currency: string) => void;
}

/** The volume of one currency by day, as a chart and as a table. */
export const VolumeChart = ({ volume, currency: wanted, onCurrency }: VolumeChartProps) => {
  const currencies = [...volume.keys()];
  const currency = wanted !== undefined && volume.has(wanted) ? wanted : currencies[0];
  const days = currency === undefined ? undefined : volume.get(currency);
  if (currency === undefined || !days) return <Empty>{t.home.noVolume}</Empty>;
  return (
    <>
      {currencies.length > 1 && (
        <SegmentedControl data={currencies} value={currency} onChange={onCurrency} size="xs" mb="sm" />
      )}
      {days.every(({ amount }) => isZero(amount)) ? (
        <Empty>{t.home.noVolume}</Empty>
      ) : (
        <>
          <Bars days={days} currency={currency} />
          <AsTable days={days} currency={currency} />
        </>
      )}
    </>
  );
};

interface DaysProps {
  readonly days: readonly DayVolume[];
  readonly currency: string;
}

const AsTable = ({ days, currency }: DaysProps) => (
  <details>
    <summary>{t.home.asTable}</summary>
    <Table withRowBorders={false} w="auto" mt="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.home.day}</Table.Th>
          <Table.Th>{t.home.amount}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.map(({ day, amount, list }) => (
          <Table.Tr key={day}>
            <Table.Td>{formatDay(day, locale)}</Table.Td>
            <Table.Td>
              <ListLink list={list}>
                <Amount value={amount} currency={currency} />
              </ListLink>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </details>
);

const Bars = ({ days, currency }: DaysProps) => (
  <DayChart
    days={days}
    most={Math.max(...days.map(({ amount }) => pixels(amount)))}
    role="img"
    aria-label={t.home.volume}
  >
    {({ day, amount }, { x, width, y }) => (
      <rect x={x} y={y(pixels(amount))} width={width} height={y(0) - y(pixels(amount))} rx={3} className="bar">
        <title>{`${formatDay(day, locale)}: ${formatAmount(amount, locale)} ${currency}`}</title>
      </rect>
    )}
  </DayChart>
);
