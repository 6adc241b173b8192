import { Group, Table, Text } from '@mantine/core';
import type { Webhook, WebhookHealth } from '@cpg/sdk';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { pageOfList } from '../../lib/filters.ts';
import { formatDay } from '../../lib/times.ts';
import { HEALTH_STATUSES, mostOf, partsOf, totalOf } from '../../lib/webhook-health.ts';
import { useLive } from '../../queries.ts';
import { locale, t, wordFor } from '../../texts/index.ts';
import { DayChart } from '../../ui/day-chart.tsx';
import { ListLink } from '../../ui/links.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';

type Days = WebhookHealth['days'];

/** How the deliveries of a webhook went, by day. */
export const Health = ({ webhook: { id } }: { readonly webhook: Webhook }) => {
  const health = useLive<WebhookHealth>(`/v1/webhooks/${id}/health`);
  return (
    <Section title={t.webhooks.health.title} note={t.webhooks.health.note}>
      <Loaded query={health}>
        {({ days }) =>
          mostOf(days) === 0 ? (
            <Empty>{t.webhooks.health.empty}</Empty>
          ) : (
            <>
              <Legend days={days} />
              <Chart days={days} />
              <AsTable days={days} />
            </>
          )
        }
      </Loaded>
    </Section>
  );
};

const statusWord = (status: string) => wordFor(t.webhooks.deliveries.statuses, status);
const dayWord = (day: string) => formatDay(day, locale);

const Legend = ({ days }: { readonly days: Days }) => (
  <Group gap="md" mb="sm">
    {HEALTH_STATUSES.map((status) => (
      <Text key={status} size="sm" span>
        <span className={`swatch part-${status}`} /> {statusWord(status)}: {totalOf(days, status)}
      </Text>
    ))}
  </Group>
);

/** The table after it says the same, and its links can be reached with the keyboard. */
const Chart = ({ days }: { readonly days: Days }) => (
  <DayChart days={days} most={mostOf(days)} aria-hidden="true">
    {(day, { x, width, y }) =>
      partsOf(day).map(({ status, count, list, below }) => (
        <BarLink key={status} list={list}>
          <rect
            x={x}
            y={y(below + count)}
            width={width}
            height={y(below) - y(below + count)}
            className={`part part-${status}`}
          >
            <title>{`${dayWord(day.day)}, ${statusWord(status)}: ${count}`}</title>
          </rect>
        </BarLink>
      ))
    }
  </DayChart>
);

const BarLink = ({ list, children }: { readonly list: string; readonly children: ReactNode }) => {
  const place = pageOfList(list);
  return place ? (
    <Link to={place.to} search={place.search} tabIndex={-1}>
      {children}
    </Link>
  ) : (
    children
  );
};

const AsTable = ({ days }: { readonly days: Days }) => (
  <details>
    <summary>{t.home.asTable}</summary>
    <Table withRowBorders={false} w="auto" mt="xs" aria-label={t.webhooks.health.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t.home.day}</Table.Th>
          {HEALTH_STATUSES.map((status) => (
            <Table.Th key={status}>{statusWord(status)}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {days.toReversed().map((day) => (
          <Table.Tr key={day.day}>
            <Table.Td>{dayWord(day.day)}</Table.Td>
            {HEALTH_STATUSES.map((status) => (
              <Table.Td key={status}>
                <ListLink list={day[status].list}>{day[status].count}</ListLink>
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </details>
);
