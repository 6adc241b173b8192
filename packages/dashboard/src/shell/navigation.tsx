import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Need } from '../lib/scopes.ts';
import { allows } from '../lib/scopes.ts';
import { useSession } from '../session.ts';
import { t } from '../texts/index.ts';
import {
  DeliveriesIcon,
  DocsIcon,
  HomeIcon,
  KeysIcon,
  OrdersIcon,
  PaymentsIcon,
  RefundsIcon,
  ReportsIcon,
  RequestsIcon,
  SettingsIcon,
  WebhooksIcon,
} from '../ui/icons.tsx';

interface Place {
  readonly to: string;
  readonly name: string;
  readonly icon: ReactNode;
  readonly need?: Need;
  readonly exact?: boolean;
}

const places = (): Place[] => [
  { to: '/', name: t.nav.home, icon: <HomeIcon />, exact: true },
  { to: '/orders', name: t.nav.orders, icon: <OrdersIcon />, need: 'readOrders' },
  { to: '/payments', name: t.nav.payments, icon: <PaymentsIcon />, need: 'readPayments' },
  { to: '/refunds', name: t.nav.refunds, icon: <RefundsIcon />, need: 'readPayments' },
  { to: '/reports', name: t.nav.reports, icon: <ReportsIcon />, need: 'overview' },
];

const developerPlaces = (): Place[] => [
  { to: '/webhooks', name: t.nav.webhooks, icon: <WebhooksIcon />, need: 'readWebhooks' },
  { to: '/deliveries', name: t.nav.deliveries, icon: <DeliveriesIcon />, need: 'readWebhooks' },
  { to: '/api-keys', name: t.nav.apiKeys, icon: <KeysIcon />, need: 'readKeys' },
  { to: '/requests', name: t.nav.requests, icon: <RequestsIcon />, need: 'readRequests' },
];

/** The pages that the user may see. */
export const Navigation = ({ onGo }: { readonly onGo: () => void }) => {
  const { scopes } = useSession();
  const shown = (list: Place[]) => list.filter(({ need }) => need === undefined || allows(scopes, need));
  const developers = shown(developerPlaces());
  return (
    <nav aria-label={t.nav.label} className="navigation">
      {shown(places()).map((place) => (
        <PlaceLink key={place.to} place={place} onGo={onGo} />
      ))}
      {developers.length > 0 && (
        <Text size="xs" fw={600} c="dimmed" mt="md" mb={4} px="sm">
          {t.nav.developers}
        </Text>
      )}
      {developers.map((place) => (
        <PlaceLink key={place.to} place={place} onGo={onGo} />
      ))}
      <a href="/docs" className="place" target="_blank" rel="noreferrer">
        <Group gap="sm" wrap="nowrap">
          <DocsIcon />
          {t.nav.docs}
        </Group>
      </a>
      <div className="place-gap" />
      <PlaceLink place={{ to: '/settings', name: t.nav.settings, icon: <SettingsIcon /> }} onGo={onGo} />
    </nav>
  );
};

const PlaceLink = ({ place, onGo }: { readonly place: Place; readonly onGo: () => void }) => (
  <Link
    to={place.to}
    className="place"
    activeOptions={{ exact: place.exact ?? false, includeSearch: false }}
    onClick={onGo}
  >
    <Group gap="sm" wrap="nowrap">
      {place.icon}
      {place.name}
    </Group>
  </Link>
);
