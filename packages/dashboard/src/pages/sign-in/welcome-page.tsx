import { Button, Center, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Navigate, useNavigate } from '@tanstack/react-router';
import { call } from '../../api.ts';
import { useSessionQuery } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { useAction } from '../../ui/action.tsx';
import { NewPassword } from '../../ui/fields.tsx';
import { ActionFailed } from '../../ui/states.tsx';

/** Asks who came by a link for a name and a password. */
export const WelcomePage = () => {
  const session = useSessionQuery();
  const navigate = useNavigate();
  const form = useForm({ initialValues: { name: session.data?.user.name ?? '', password: '' } });
  const save = useAction(async ({ name, password }: { name: string; password: string }) => {
    if (name.trim() !== '') await call('PATCH', '/v1/account', { body: { name: name.trim() } });
    await call('POST', '/v1/account/password', { body: { password } });
  });
  if (session.data === null) return <Navigate to="/sign-in" replace />;
  const submit = async (values: { name: string; password: string }) => {
    if (await save.run(values)) await navigate({ to: '/' });
  };
  return (
    <Center mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={440} component="main">
        <form onSubmit={form.onSubmit((values) => void submit(values))}>
          <Stack>
            <Title order={1}>{t.identity.welcome}</Title>
            <Text>{t.identity.welcomeNote}</Text>
            {/* Password managers keep the password under this name. */}
            <input type="hidden" autoComplete="username" value={session.data?.user.email ?? ''} readOnly />
            <TextInput
              label={t.identity.name}
              description={t.identity.nameNote}
              autoComplete="name"
              {...form.getInputProps('name')}
            />
            <NewPassword {...form.getInputProps('password')} />
            {save.error !== null && <ActionFailed error={save.error} />}
            <Group justify="space-between">
              <Button variant="subtle" onClick={() => void navigate({ to: '/' })}>
                {t.identity.later}
              </Button>
              <Button type="submit" loading={save.isPending}>
                {t.identity.setUp}
              </Button>
            </Group>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
};
