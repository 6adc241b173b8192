import { Badge, Paper } from '@mantine/core';
import { call } from '../../api.ts';
import { browserName } from '../../lib/browser-name.ts';
import { useLive } from '../../queries.ts';
import { t, wordFor } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';

interface SessionInList {
  readonly id: string;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly address: string;
  readonly user_agent: string;
  readonly method: string;
  readonly is_current: boolean;
}

export const SessionsPage = () => {
  const sessions = useLive<{ items: SessionInList[] }>('/v1/sessions');
  return (
    <Page title={t.identity.sessions.title}>
      <p>{t.identity.sessions.note}</p>
      <Loaded query={sessions}>
        {({ items }) => (
          <Paper withBorder p="sm">
            {items.length === 0 ? (
              <Empty>{t.identity.sessions.empty}</Empty>
            ) : (
              <DataTable label={t.identity.sessions.title} columns={columns()} rows={items} />
            )}
          </Paper>
        )}
      </Loaded>
    </Page>
  );
};

const columns = (): Column<SessionInList>[] => {
  const names = t.identity.sessions;
  return [
    { name: names.device, cell: ({ user_agent }) => <span title={user_agent}>{browserName(user_agent)}</span> },
    { name: names.address, cell: ({ address }) => address },
    { name: names.method, cell: ({ method }) => wordFor(names.methods, method) },
    { name: names.signedIn, cell: ({ created_at }) => <Time at={created_at} /> },
    { name: names.lastSeen, cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    {
      name: t.list.actions,
      align: 'right',
      cell: ({ id, is_current }) =>
        is_current ? (
          <Badge variant="light" tt="none" className="status">
            {names.current}
          </Badge>
        ) : (
          <ConfirmButton
            label={names.end}
            effect={names.endEffect}
            color="red.9"
            onConfirm={() => call('DELETE', `/v1/sessions/${encodeURIComponent(id)}`)}
          />
        ),
    },
  ];
};
