import { Alert, Group } from '@mantine/core';
import type { WebhookPage } from '@cpg/sdk';
import { useQuery } from '@tanstack/react-query';
import { get } from '../api.ts';
import { useAllowed } from '../session.ts';
import { t } from '../texts/index.ts';
import { PageLink } from '../ui/links.tsx';

const CHECK_EVERY_MS = 30_000;

/** What the merchant has to know on every page: webhooks that the gateway disabled. */
export const Banners = () => {
  const path = '/v1/webhooks?limit=100';
  const { data } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => get<WebhookPage>(path, signal),
    refetchInterval: CHECK_EVERY_MS,
    enabled: useAllowed('readWebhooks'),
  });
  const disabled = data?.items.filter((webhook) => !webhook.is_enabled && webhook.disabled_reason !== undefined) ?? [];
  if (disabled.length === 0) return null;
  return (
    <Alert color="red" mb="md" role="status">
      <Group justify="space-between">
        {t.shell.disabledWebhooks(disabled.length)}
        <PageLink to="/webhooks">{t.shell.showWebhooks}</PageLink>
      </Group>
    </Alert>
  );
};
