import { Box, Center, Loader, Title, VisuallyHidden } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { listenForSignOut } from '../api.ts';
import { SESSION_KEY, SessionContext, useSessionQuery } from '../session.ts';
import { t } from '../texts/index.ts';
import { Failed } from '../ui/states.tsx';
import { Shell } from './shell.tsx';

/** Shows the pages to users, and sends everybody else to the sign-in page, which leads back to the page. */
export const Gate = () => {
  const queries = useQueryClient();
  const session = useSessionQuery();
  useEffect(() => listenForSignOut(() => queries.setQueryData(SESSION_KEY, null)), [queries]);
  if (session.data)
    return (
      <SessionContext value={session.data}>
        <Shell />
      </SessionContext>
    );
  if (session.data === null) return <ToSignIn />;
  if (session.error)
    return (
      <Box component="main" maw={560} mx="auto" my="xl" px="md">
        <Title order={1} mb="md">
          {t.appName}
        </Title>
        <Failed error={session.error} onRetry={() => void session.refetch()} />
      </Box>
    );
  return <Waiting />;
};

/** Leads to the sign-in page once. The address changes before that page is there, and must not lead there again. */
const ToSignIn = () => {
  const navigate = useNavigate();
  const next = useRef(useLocation().href);
  useEffect(() => void navigate({ to: '/sign-in', search: { next: next.current }, replace: true }), [navigate]);
  return <Waiting />;
};

const Waiting = () => (
  <Center component="main" h="100vh">
    <VisuallyHidden component="h1">{t.appName}</VisuallyHidden>
    <Loader role="status" aria-label={t.identity.checking} />
  </Center>
);
