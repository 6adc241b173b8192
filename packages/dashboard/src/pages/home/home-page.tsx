import { Badge, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core';
import type { CountedAmounts, Overview } from '@cpg/sdk';
import { lazy, type ReactNode, Suspense } from 'react';
import { pageOfList } from '../../lib/filters.ts';
import { timeZone } from '../../lib/times.ts';
import { percent } from '../../lib/volume.ts';
import { useLive } from '../../queries.ts';
import { useAllowed } from '../../session.ts';
import { t, wordFor } from '../../texts/index.ts';
import { ButtonLink, PageLink } from '../../ui/links.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Empty, Failed, Loaded, Loading, Needs } from '../../ui/states.tsx';
import { Amount } from '../../ui/values.tsx';
import { NewestOrders } from './newest-orders.tsx';

/** The chart is below the numbers: they do not wait for its libraries. */
const Volume = lazy(() => import('./volume.tsx').catch(() => ({ default: WithoutVolume })));

const WithoutVolume = () => (
  <Section title={t.home.volume}>
    <Failed error={null} onRetry={() => location.reload()} />
  </Section>
);

export const HomePage = () => (
  <Page
    title={t.home.title}
    actions={useAllowed('createOrders') && <ButtonLink to="/orders/new">{t.home.createOrder}</ButtonLink>}
  >
    <Needs need="overview">
      <Numbers />
    </Needs>
    {useAllowed('readOrders') && <NewestOrders />}
    {useAllowed('overview') && (
      <Suspense fallback={<Loading />}>
        <Volume />
      </Suspense>
    )}
  </Page>
);

const Numbers = () => {
  const overview = useLive<Overview>(`/v1/merchants/me/overview?timezone=${encodeURIComponent(timeZone())}`);
  return (
    <Loaded query={overview}>
      {(data) => (
        <Stack>
          <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
            <Figure
              title={t.home.takenToday}
              list={data.taken_today.list}
              note={t.home.takenTodayNote(data.taken_today.count)}
            >
              <Sums of={data.taken_today} />
            </Figure>
            <Figure title={t.home.waiting} list={data.waiting.list} note={t.home.waitingNote}>
              {data.waiting.count}
            </Figure>
            <Figure
              title={t.home.conversion}
              list={data.converted.list}
              note={t.home.conversionNote(data.converted.count, data.created.count)}
            >
              {percent(data.converted.count, data.created.count) ?? '–'}
              {data.created.count > 0 && ' %'}
            </Figure>
            <Figure title={t.home.dueBack} list={data.due_back.list} note={t.home.dueBackNote(data.due_back.count)}>
              <Sums of={data.due_back} />
            </Figure>
          </SimpleGrid>
          <NeedsYou overview={data} />
        </Stack>
      )}
    </Loaded>
  );
};

interface FigureProps {
  readonly title: string;
  readonly list: string;
  readonly note: string;
  readonly children: ReactNode;
}

/** A number that leads to the list that makes it up. */
const Figure = ({ title, list, note, children }: FigureProps) => {
  const place = pageOfList(list);
  return (
    <Paper withBorder p="md" className="figure">
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <div className="figure-value">
        {place ? (
          <PageLink to={place.to} search={place.search} c="bright" className="covers">
            {children}
          </PageLink>
        ) : (
          children
        )}
      </div>
      <Text size="sm" c="dimmed">
        {note}
      </Text>
    </Paper>
  );
};

const Sums = ({ of: { amounts } }: { readonly of: CountedAmounts }) =>
  amounts.length === 0 ? (
    <>0</>
  ) : (
    <Stack component="span" gap={0}>
      {amounts.map(({ currency, amount }) => (
        <Amount key={currency} value={amount} currency={currency} />
      ))}
    </Stack>
  );

const NeedsYou = ({ overview }: { readonly overview: Overview }) => (
  <Section title={t.home.needsYou}>
    {overview.needs_attention.length === 0 && <Empty>{t.home.nothingNeeds}</Empty>}
    <Stack gap="xs">
      {overview.needs_attention.map(({ reason, count, list }) => {
        const place = pageOfList(list);
        const text = wordFor(t.home.needs, reason);
        return (
          <Group key={reason} gap="sm" wrap="nowrap">
            <Badge color="orange" variant="light" miw={34}>
              {count}
            </Badge>
            {place ? (
              <PageLink to={place.to} search={place.search}>
                {text}
              </PageLink>
            ) : (
              <Text>{text}</Text>
            )}
          </Group>
        );
      })}
    </Stack>
  </Section>
);
