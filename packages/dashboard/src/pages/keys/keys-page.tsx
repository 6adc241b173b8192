import { Group, Paper, Text } from '@mantine/core';
import type { ApiKey, ApiKeyPage } from '@cpg/sdk';
import { useLive } from '../../queries.ts';
import { useAllowed } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Status, Time } from '../../ui/values.tsx';
import { CreateKey, KeyActions, UnusedScopes } from './actions.tsx';
import { ScopeList } from './scopes.tsx';

export const KeysPage = () => {
  const keys = useLive<ApiKeyPage>('/v1/api-keys?limit=100', { enabled: useAllowed('readKeys') });
  return (
    <Page title={t.settings.keys.title} actions={<CreateKey />}>
      <Needs need="readKeys">
        <Loaded query={keys}>
          {({ items }) => (
            <Paper withBorder p="sm">
              {items.length === 0 ? (
                <Empty>{t.settings.keys.empty}</Empty>
              ) : (
                <DataTable label={t.settings.keys.title} columns={columns()} rows={items} />
              )}
            </Paper>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

const columns = (): Column<ApiKey>[] => {
  const names = t.settings.keys;
  return [
    {
      name: names.key,
      cell: (key) => (
        <div>
          <Text size="sm" fw={600} className="breaking">
            {key.label ?? names.unnamed}
          </Text>
          <code>
            {key.prefix}…{key.last4}
          </code>
        </div>
      ),
    },
    {
      name: names.scopes,
      cell: (key) => (
        <div>
          <ScopeList scopes={key.scopes} />
          <UnusedScopes apiKey={key} />
        </div>
      ),
    },
    {
      name: names.status,
      cell: (key) => (
        <>
          <Status value={key.status} words={names.statuses} />
          {key.rotated_at !== undefined && key.status === 'active' && <Text size="xs">{names.rotated}</Text>}
          {key.allowed_ips.length > 0 && (
            <Text size="xs" className="breaking">
              {names.addresses} {key.allowed_ips.join(', ')}
            </Text>
          )}
        </>
      ),
    },
    {
      name: names.lastUsed,
      cell: (key) => (
        <>
          {key.last_used_at === undefined ? names.never : <Time at={key.last_used_at} />}
          {key.last_used_from !== undefined && <Text size="xs">{names.from(key.last_used_from)}</Text>}
        </>
      ),
    },
    { name: names.expires, cell: (key) => (key.expires_at === undefined ? names.never : <Time at={key.expires_at} />) },
    {
      name: t.list.actions,
      align: 'right',
      cell: (key) =>
        key.status === 'active' && (
          <Group gap={4} justify="flex-end">
            <KeyActions apiKey={key} />
          </Group>
        ),
    },
  ];
};
