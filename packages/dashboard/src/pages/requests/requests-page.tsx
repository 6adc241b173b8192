import { Text } from '@mantine/core';
import type { LoggedRequest } from '@cpg/sdk';
import { type Named, nameOf, nameOfKey } from '../../lib/names.ts';
import { t } from '../../texts/index.ts';
import { PageLink } from '../../ui/links.tsx';
import { ListView } from '../../ui/list-view.tsx';
import { useKeys, useUsers } from '../../ui/names.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Needs } from '../../ui/states.tsx';
import type { Column } from '../../ui/table.tsx';
import { HttpStatus, Time } from '../../ui/values.tsx';

/** The requests that were made with the keys of the merchant. */
export const RequestsPage = () => (
  <Page title={t.requests.title}>
    <Needs need="readRequests">
      <Text size="sm" c="dimmed">
        {t.requests.note}
      </Text>
      <Requests />
    </Needs>
  </Page>
);

const METHODS = { GET: 'GET', HEAD: 'HEAD', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' };

const Requests = () => {
  const names = { users: useUsers(), keys: useKeys() };
  const words = t.requests;
  return (
    <ListView<LoggedRequest>
      list="requests"
      label={words.title}
      columns={columns(names)}
      csvColumns={csvColumns(names)}
      fields={[
        { kind: 'one', name: 'method', label: words.method, words: METHODS },
        { kind: 'text', name: 'path', label: words.pathStart },
        { kind: 'text', name: 'status', label: words.statusFilter },
        { kind: 'text', name: 'code', label: words.code },
        {
          kind: 'one',
          name: 'api_key_id',
          label: words.key,
          width: 200,
          words: Object.fromEntries(names.keys.map((key) => [key.id, nameOfKey(key)])),
        },
        { kind: 'text', name: 'request_id', label: words.id },
        { kind: 'from', name: 'from_date', label: t.list.from },
        { kind: 'to', name: 'to_date', label: t.list.to },
      ]}
      empty={<Empty>{words.empty}</Empty>}
    />
  );
};

const columns = (names: Named): Column<LoggedRequest>[] => {
  const words = t.requests;
  return [
    {
      name: words.request,
      cell: ({ id, method, path }) => (
        <PageLink to={`/requests/${id}`} className="breaking" display="inline-block" miw={160}>
          {method} {path}
        </PageLink>
      ),
      text: ({ method, path }) => `${method} ${path}`,
    },
    {
      name: words.status,
      cell: ({ status }) => <HttpStatus status={status} />,
      text: ({ status }) => String(status),
    },
    {
      name: words.code,
      cell: ({ code }) => code !== undefined && <code className="breaking">{code}</code>,
      text: ({ code }) => code ?? '',
    },
    {
      name: words.by,
      // In one line, because names load later: they would move the rows.
      cell: ({ api_key_id, user_id }) => {
        const name = nameOf(api_key_id ?? user_id ?? '', names);
        return (
          <Text size="sm" truncate w={150} title={name}>
            {name}
          </Text>
        );
      },
      text: ({ api_key_id, user_id }) => api_key_id ?? user_id ?? '',
    },
    {
      name: words.duration,
      align: 'right',
      cell: ({ duration_ms }) => words.took(duration_ms),
      text: ({ duration_ms }) => String(duration_ms),
    },
    {
      name: words.at,
      align: 'right',
      cell: ({ created_at }) => <Time at={created_at} exact />,
      text: ({ created_at }) => created_at,
    },
  ];
};

const csvColumns = (names: Named): Column<LoggedRequest>[] => [
  { name: 'id', cell: () => null, text: ({ id }) => id },
  ...columns(names),
  { name: t.requests.address, cell: () => null, text: ({ address }) => address },
];
