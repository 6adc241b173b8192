import { PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { call } from '../../api.ts';
import { useSession } from '../../session.ts';
import { t, wordFor } from '../../texts/index.ts';
import { useAction } from '../../ui/action.tsx';
import { NewPassword, SaveRow } from '../../ui/fields.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { ActionFailed } from '../../ui/states.tsx';
import { Passkeys } from './passkeys.tsx';
import { Totp } from './totp.tsx';

export const AccountPage = () => (
  <Page title={t.identity.account.title}>
    <Profile />
    <Password />
    <Totp />
    <Passkeys />
  </Page>
);

const Profile = () => {
  const { user } = useSession();
  const form = useForm({ initialValues: { name: user.name ?? '' } });
  const save = useAction(({ name }: { name: string }) => call('PATCH', '/v1/account', { body: { name: name.trim() } }));
  const [isSaved, setSaved] = useState(false);
  const submit = async (values: { name: string }) => setSaved((await save.run(values)) !== undefined);
  return (
    <Section title={t.identity.account.profile}>
      <form onSubmit={form.onSubmit((values) => void submit(values))}>
        <Stack maw={440}>
          <Facts
            facts={[
              [t.identity.email, user.email],
              [t.identity.users.role, wordFor(t.identity.users.roles, user.role)],
            ]}
          />
          <TextInput
            label={t.identity.name}
            description={t.identity.nameNote}
            autoComplete="name"
            {...form.getInputProps('name')}
          />
          {save.error !== null && <ActionFailed error={save.error} />}
          <SaveRow label={t.actions.save} isPending={save.isPending} done={isSaved ? t.actions.saved : ''} />
        </Stack>
      </form>
    </Section>
  );
};

const EMPTY = { current: '', password: '' };

const Password = () => {
  const { user } = useSession();
  const form = useForm({ initialValues: EMPTY });
  const [isDone, setDone] = useState(false);
  const change = useAction(({ current, password }: typeof EMPTY) =>
    call('POST', '/v1/account/password', {
      body: { password, ...(user.needs_current_password && { current_password: current }) },
    }),
  );
  const submit = async (values: typeof EMPTY) => {
    const changed = await change.run(values);
    setDone(changed !== undefined);
    if (changed) form.setValues(EMPTY);
  };
  return (
    <Section title={t.identity.account.passwordTitle}>
      <form onSubmit={form.onSubmit((values) => void submit(values))}>
        <Stack maw={440}>
          {user.needs_current_password && (
            <PasswordInput
              label={t.identity.account.current}
              autoComplete="current-password"
              required
              withAsterisk={false}
              {...form.getInputProps('current')}
            />
          )}
          <NewPassword {...form.getInputProps('password')} />
          {change.error !== null && <ActionFailed error={change.error} />}
          <SaveRow
            label={user.has_password ? t.identity.account.change : t.identity.account.set}
            isPending={change.isPending}
            done={isDone ? t.identity.account.changed : ''}
          />
        </Stack>
      </form>
    </Section>
  );
};
