import { Table, Text } from '@mantine/core';
import { t, wordFor } from '../../texts/index.ts';
import { Section } from '../../ui/page.tsx';

export interface Role {
  readonly role: string;
  readonly description: string;
  readonly scopes: readonly string[];
}

/** What each role may do, shown before somebody is invited. */
export const RoleTable = ({ roles }: { readonly roles: readonly Role[] }) => {
  const scopes = [...new Set(roles.flatMap((role) => role.scopes))];
  return (
    <Section title={t.identity.users.table} note={t.identity.users.tableNote}>
      <div className="table-frame" tabIndex={0}>
        <Table aria-label={t.identity.users.table} verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Td />
              {roles.map(({ role }) => (
                <Table.Th key={role} ta="center" scope="col">
                  {wordFor(t.identity.users.roles, role)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {scopes.map((scope) => (
              <Table.Tr key={scope}>
                <Table.Th scope="row" fw={400} title={scope} className="row-name">
                  {wordFor(t.settings.keys.scopeWords, scope)}
                </Table.Th>
                {roles.map((role) => (
                  <Table.Td key={role.role} ta="center">
                    {role.scopes.includes(scope) && <span aria-label={t.identity.users.yes}>●</span>}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {roles.map(({ role, description }) => (
        <Text key={role} size="sm" mt="xs">
          <b>{wordFor(t.identity.users.roles, role)}</b>: {description}
        </Text>
      ))}
    </Section>
  );
};
