import { Group, Paper, Text } from '@mantine/core';
import { useLive } from '../../queries.ts';
import { useSession } from '../../session.ts';
import { t, wordFor } from '../../texts/index.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Status, Time } from '../../ui/values.tsx';
import { type Role, RoleTable } from './role-table.tsx';
import { InviteUser, type User, UserActions } from './user-actions.tsx';

export const UsersPage = () => {
  const users = useLive<{ items: User[] }>('/v1/users?limit=100&sort=asc');
  const roles = useLive<{ items: Role[] }>('/v1/roles');
  const { user } = useSession();
  return (
    <Page title={t.identity.users.title} actions={<InviteUser roles={roles.data?.items ?? []} />}>
      <Needs need="readUsers">
        <Loaded query={users}>
          {({ items }) => (
            <Paper withBorder p="sm">
              {items.length === 0 ? (
                <Empty>{t.identity.users.empty}</Empty>
              ) : (
                <DataTable
                  label={t.identity.users.title}
                  columns={columns(user.id, roles.data?.items ?? [])}
                  rows={items}
                />
              )}
            </Paper>
          )}
        </Loaded>
        <Loaded query={roles}>{({ items }) => <RoleTable roles={items} />}</Loaded>
      </Needs>
    </Page>
  );
};

const columns = (ownId: string, roles: readonly Role[]): Column<User>[] => {
  const names = t.identity.users;
  return [
    {
      name: t.identity.name,
      cell: (user) => (
        <div>
          <Text size="sm" fw={600} className="breaking">
            {user.name ?? user.email} {user.id === ownId && `(${names.you})`}
          </Text>
          <Text size="xs" c="dimmed" className="breaking">
            {user.email}
          </Text>
        </div>
      ),
    },
    { name: names.role, cell: ({ role }) => wordFor(names.roles, role) },
    { name: names.status, cell: ({ status }) => <Status value={status} words={names.statuses} /> },
    { name: names.secondStep, cell: ({ has_totp }) => (has_totp ? names.yes : names.no) },
    {
      name: names.lastSignIn,
      cell: ({ last_signed_in_at: at }) => (at === undefined ? names.never : <Time at={at} />),
    },
    {
      name: t.list.actions,
      align: 'right',
      cell: (user) =>
        user.id !== ownId && (
          <Group gap={4} justify="flex-end">
            <UserActions user={user} roles={roles} />
          </Group>
        ),
    },
  ];
};
