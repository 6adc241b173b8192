import { Checkbox, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api.ts';
import { t, wordFor } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { Secret } from '../../ui/secret.tsx';
import type { Role } from './role-table.tsx';

export interface User {
  readonly id: string;
  readonly email: string;
  readonly name?: string | null;
  readonly role: string;
  readonly status: string;
  readonly last_signed_in_at?: string;
  readonly has_totp: boolean;
  readonly created_at: string;
}

interface WithLink {
  readonly sign_in_link: string;
}

interface RoleChoiceProps {
  readonly roles: readonly Role[];
  readonly value: string;
  readonly onChange: (role: string) => void;
}

const RoleChoice = ({ roles, value, onChange }: RoleChoiceProps) => (
  <div>
    <NativeSelect
      label={t.identity.users.role}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={roles.map(({ role }) => ({ value: role, label: wordFor(t.identity.users.roles, role) }))}
    />
    <Text size="sm" mt={4}>
      {roles.find(({ role }) => role === value)?.description}
    </Text>
  </div>
);

const SignInLink = ({ link, onClose }: { readonly link: string | null; readonly onClose: () => void }) => (
  <Secret title={t.identity.users.linkTitle} note={t.identity.users.linkNote} value={link} onClose={onClose} />
);

export const InviteUser = ({ roles }: { readonly roles: readonly Role[] }) => {
  const [fields, setFields] = useState({ email: '', name: '', role: 'viewer' });
  const [link, setLink] = useState<string | null>(null);
  const set = (changes: Partial<typeof fields>) => setFields({ ...fields, ...changes });
  const names = t.identity.users;
  return (
    <>
      <ConfirmButton
        label={names.invite}
        effect={names.inviteEffect}
        need="createUsers"
        variant="filled"
        size="sm"
        isReady={fields.email.includes('@')}
        onConfirm={async (idempotencyKey) => {
          const { email, name, role } = fields;
          const body = { email: email.trim(), role, ...(name.trim() !== '' && { name: name.trim() }) };
          setLink((await call<WithLink>('POST', '/v1/users', { body, idempotencyKey })).sign_in_link);
        }}
      >
        <Stack>
          <TextInput
            label={t.identity.email}
            type="email"
            value={fields.email}
            onChange={(event) => set({ email: event.currentTarget.value })}
            data-autofocus
          />
          <TextInput
            label={t.identity.name}
            value={fields.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
          />
          <RoleChoice roles={roles} value={fields.role} onChange={(role) => set({ role })} />
        </Stack>
      </ConfirmButton>
      <SignInLink link={link} onClose={() => setLink(null)} />
    </>
  );
};

interface UserActionsProps {
  readonly user: User;
  readonly roles: readonly Role[];
}

export const UserActions = ({ user, roles }: UserActionsProps) => {
  const path = `/v1/users/${encodeURIComponent(user.id)}`;
  const isDisabled = user.status === 'disabled';
  const names = t.identity.users;
  return (
    <>
      <ChangeRole user={user} roles={roles} />
      {!isDisabled && <NewLink path={path} hasTotp={user.has_totp} />}
      <ConfirmButton
        label={isDisabled ? names.enable : names.disable}
        effect={isDisabled ? names.enableEffect : names.disableEffect}
        need="updateUsers"
        onConfirm={() => call('PATCH', path, { body: { status: isDisabled ? 'active' : 'disabled' } })}
      />
      <ConfirmButton
        label={names.remove}
        effect={
          <>
            <b>{user.email}</b>: {names.removeEffect}
          </>
        }
        need="deleteUsers"
        color="red.9"
        onConfirm={() => call('DELETE', path)}
      />
    </>
  );
};

const ChangeRole = ({ user, roles }: UserActionsProps) => {
  const [role, setRole] = useState(user.role);
  return (
    <ConfirmButton
      label={t.identity.users.changeRole}
      effect={t.identity.users.changeRoleEffect}
      need="updateUsers"
      isReady={role !== user.role}
      onConfirm={() => call('PATCH', `/v1/users/${encodeURIComponent(user.id)}`, { body: { role } })}
    >
      <RoleChoice roles={roles} value={role} onChange={setRole} />
    </ConfirmButton>
  );
};

const NewLink = ({ path, hasTotp }: { readonly path: string; readonly hasTotp: boolean }) => {
  const [link, setLink] = useState<string | null>(null);
  const [removeTotp, setRemoveTotp] = useState(false);
  return (
    <>
      <ConfirmButton
        label={t.identity.users.newLink}
        effect={t.identity.users.newLinkEffect}
        need="updateUsers"
        onConfirm={async (idempotencyKey) =>
          setLink(
            (
              await call<WithLink>('POST', `${path}/sign-in-links`, {
                body: { remove_totp: removeTotp },
                idempotencyKey,
              })
            ).sign_in_link,
          )
        }
      >
        {hasTotp && (
          <Checkbox
            label={t.identity.users.removeTotp}
            checked={removeTotp}
            onChange={(event) => setRemoveTotp(event.currentTarget.checked)}
          />
        )}
      </ConfirmButton>
      <SignInLink link={link} onClose={() => setLink(null)} />
    </>
  );
};
