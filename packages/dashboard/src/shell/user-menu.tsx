import {
  Avatar,
  Button,
  NativeSelect,
  Popover,
  SegmentedControl,
  Stack,
  Text,
  UnstyledButton,
  VisuallyHidden,
  type MantineColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { call } from '../api.ts';
import { SESSION_KEY, useSession } from '../session.ts';
import { chooseLanguage, languages, locale, t, wordFor } from '../texts/index.ts';
import { PageLink } from '../ui/links.tsx';

export const UserMenu = () => {
  const { user } = useSession();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const signOut = useSignOut();
  const name = user.name ?? user.email;
  return (
    <Popover position="bottom-end" width={260} opened={isOpen} onDismiss={close} trapFocus returnFocus shadow="md">
      <Popover.Target>
        <UnstyledButton onClick={toggle}>
          <VisuallyHidden>{`${t.shell.userMenu}: ${name}`}</VisuallyHidden>
          <Avatar radius="xl" size={34} color="sea" alt="" name={name} variant="light" aria-hidden />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={t.shell.userMenu}>
        <Stack gap="sm">
          <div>
            <Text fw={600} className="breaking">
              {name}
            </Text>
            <Text size="sm" c="dimmed">
              {wordFor(t.identity.users.roles, user.role)}
            </Text>
          </div>
          <div onClick={close}>
            <PageLink to="/settings/account">{t.shell.account}</PageLink>
          </div>
          <Scheme />
          {languages().length > 1 && <Language />}
          <Text size="xs" c="dimmed">
            {t.shell.shortcuts}
          </Text>
          <Button variant="default" onClick={() => void signOut()}>
            {t.shell.signOut}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
};

const Scheme = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      fullWidth
      size="xs"
      aria-label={t.shell.schemeLabel}
      value={colorScheme}
      onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}
      data={Object.entries(t.shell.scheme).map(([value, label]) => ({ value, label }))}
    />
  );
};

const Language = () => (
  <NativeSelect
    size="xs"
    label={t.shell.language}
    value={locale.slice(0, 2)}
    onChange={(event) => chooseLanguage(event.currentTarget.value)}
    data={languages().map((value) => ({ value, label: wordFor(t.shell.languages, value) }))}
  />
);

/** Ends the session, and forgets all that was read with it. */
const useSignOut = () => {
  const queries = useQueryClient();
  return async () => {
    try {
      await call('DELETE', '/v1/sessions/current');
    } finally {
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
      await queries.invalidateQueries({ queryKey: SESSION_KEY });
    }
  };
};
