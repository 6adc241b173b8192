import { Group, Text, TextInput } from '@mantine/core';
import type { DeliveryPage, Replay, ReplayPage, Webhook } from '@cpg/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { nowMs } from '../../lib/clock.ts';
import { dayOf, endOfDay, startOfDay } from '../../lib/filters.ts';
import { writeSearch } from '../../lib/search-params.ts';
import { useLive } from '../../queries.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { Section } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Status, Time } from '../../ui/values.tsx';

interface ReplaysProps {
  readonly webhook: Webhook;
}

export const Replays = ({ webhook }: ReplaysProps) => {
  const replays = useLive<ReplayPage>(`/v1/webhooks/${webhook.id}/replays?limit=10`);
  return (
    <Section title={t.webhooks.replays} actions={<StartReplay webhook={webhook} />}>
      <Loaded query={replays}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{t.webhooks.noReplays}</Empty>
          ) : (
            <DataTable label={t.webhooks.replays} columns={columns()} rows={items} />
          )
        }
      </Loaded>
    </Section>
  );
};

const columns = (): Column<Replay>[] => [
  {
    name: t.webhooks.period,
    cell: ({ from_date, to_date }) => (
      <>
        <Time at={from_date} exact /> – <Time at={to_date} exact />
      </>
    ),
  },
  { name: t.webhooks.state, cell: ({ status }) => <Status value={status} words={t.webhooks.replayStatuses} /> },
  { name: t.webhooks.queued, align: 'right', cell: ({ queued_events }) => queued_events },
  {
    name: t.list.actions,
    align: 'right',
    cell: ({ id, webhook_id, status }) =>
      (status === 'running' || status === 'paused') && (
        <ConfirmButton
          label={t.webhooks.cancelReplay}
          effect={t.webhooks.cancelReplayEffect}
          need="updateWebhooks"
          onConfirm={(idempotencyKey) =>
            call('POST', `/v1/webhooks/${webhook_id}/replays/${id}/cancel`, { body: {}, idempotencyKey })
          }
        />
      ),
  },
];

const StartReplay = ({ webhook }: ReplaysProps) => {
  const today = dayOf(new Date(nowMs()).toISOString());
  const [days, setDays] = useState({ from: today, to: today });
  const range = { from_date: startOfDay(days.from), to_date: endOfDay(days.to) };
  const isReady = range.from_date !== undefined && range.to_date !== undefined && range.from_date < range.to_date;
  return (
    <ConfirmButton
      label={t.webhooks.replay}
      effect={t.webhooks.replayEffect}
      need="updateWebhooks"
      disabled={!webhook.is_enabled}
      isReady={isReady}
      onConfirm={(idempotencyKey) => call('POST', `/v1/webhooks/${webhook.id}/replay`, { body: range, idempotencyKey })}
    >
      <Group grow>
        <TextInput
          type="date"
          label={t.list.from}
          value={days.from}
          onChange={(event) => setDays({ ...days, from: event.currentTarget.value })}
        />
        <TextInput
          type="date"
          label={t.list.to}
          value={days.to}
          onChange={(event) => setDays({ ...days, to: event.currentTarget.value })}
        />
      </Group>
      {isReady && <Count webhook={webhook} range={range} />}
    </ConfirmButton>
  );
};

interface CountProps extends ReplaysProps {
  readonly range: Readonly<Record<string, string | undefined>>;
}

/** How many deliveries there were: about as many come again. */
const Count = ({ webhook, range }: CountProps) => {
  const path = `/v1/webhooks/${webhook.id}/deliveries${writeSearch({ ...range, limit: 1 })}`;
  const { data } = useLive<DeliveryPage>(path);
  return data && <Text size="sm">{t.webhooks.replayCount(data.total)}</Text>;
};
