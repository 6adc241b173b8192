import { AppShell, Box, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet } from '@tanstack/react-router';
import { useSession } from '../session.ts';
import { t, wordFor } from '../texts/index.ts';
import { Banners } from './banners.tsx';
import { Navigation } from './navigation.tsx';
import { useShortcuts } from './use-shortcuts.ts';
import { UserMenu } from './user-menu.tsx';

/** The frame of every page: where you are, who you are, and in which environment. */
export const Shell = () => {
  const { merchant, environment } = useSession();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  useShortcuts();
  const sandbox = environment === 'sandbox';
  return (
    <AppShell
      header={{ height: sandbox ? 88 : 60 }}
      navbar={{ width: 230, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <AppShell.Header className={`header ${environment}`}>
        <a href="#content" className="skip">
          {t.nav.skip}
        </a>
        {sandbox && (
          <Box className="sandbox-strip">
            <b>{t.shell.sandbox}</b>
            <span>{t.shell.sandboxNote}</span>
          </Box>
        )}
        <Group h={60} px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t.nav.open} />
            <Text fw={650} truncate>
              {merchant.name}
            </Text>
            <span className={`environment of-${environment}`}>
              {wordFor({ sandbox: t.shell.sandbox, live: t.shell.live }, environment)}
            </span>
          </Group>
          <UserMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm">
        <Navigation onGo={close} />
      </AppShell.Navbar>
      <AppShell.Main>
        <Box id="content" tabIndex={-1} maw="78rem" mx="auto">
          <Banners />
          <Outlet />
        </Box>
      </AppShell.Main>
    </AppShell>
  );
};
