import { Group, Stack } from '@mantine/core';
import { Link, Navigate, Outlet, useLocation } from '@tanstack/react-router';
import { allows, type Need } from '../../lib/scopes.ts';
import { useSession } from '../../session.ts';
import { t, wordFor } from '../../texts/index.ts';

const TABS: readonly (readonly [string, Need?])[] = [
  ['profile', 'readMerchant'],
  ['deposits', 'readMerchant'],
  ['payment-page', 'readMerchant'],
  ['users', 'readUsers'],
  ['audit-log', 'readAuditLog'],
  ['account'],
  ['sessions'],
];

/** The rooms of the settings. */
export const SettingsPage = () => {
  const { scopes } = useSession();
  const { pathname } = useLocation();
  const shown = TABS.filter(([, need]) => need === undefined || allows(scopes, need));
  if (/\/settings\/?$/.test(pathname)) return <Navigate to={`/settings/${shown[0]![0]}`} replace />;
  return (
    <Stack gap="md">
      <Group component="nav" gap={4} aria-label={t.settings.title} className="tabs">
        {shown.map(([name]) => (
          <Link key={name} to={`/settings/${name}`} className="tab">
            {wordFor(t.settings.tabs, name)}
          </Link>
        ))}
      </Group>
      <Outlet />
    </Stack>
  );
};
