import { Paper } from '@mantine/core';
import type { Webhook, WebhookPage, WebhookWithSecret } from '@cpg/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { useLive } from '../../queries.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { PageLink } from '../../ui/links.tsx';
import { Page } from '../../ui/page.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Status, Time } from '../../ui/values.tsx';
import { useWebhookFields, WebhookForm, webhookRequest } from './webhook-form.tsx';

export const WebhooksPage = () => {
  const webhooks = useLive<WebhookPage>('/v1/webhooks?limit=100');
  return (
    <Page title={t.webhooks.title} actions={<CreateWebhook />}>
      <Needs need="readWebhooks">
        <Loaded query={webhooks}>
          {({ items }) => (
            <Paper withBorder p="sm">
              {items.length === 0 ? (
                <Empty>{t.webhooks.empty}</Empty>
              ) : (
                <DataTable label={t.webhooks.title} columns={columns()} rows={items} />
              )}
            </Paper>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

const columns = (): Column<Webhook>[] => [
  {
    name: t.webhooks.url,
    cell: (webhook) => (
      <PageLink to={`/webhooks/${webhook.id}`} className="breaking">
        {webhook.url}
      </PageLink>
    ),
  },
  { name: t.webhooks.label, cell: (webhook) => webhook.label },
  {
    name: t.webhooks.state,
    cell: (webhook) => <Status value={webhook.is_enabled ? 'enabled' : 'disabled'} words={t.webhooks.states} />,
  },
  { name: t.webhooks.events, align: 'right', cell: (webhook) => webhook.events.length },
  {
    name: t.webhooks.created,
    align: 'right',
    cell: (webhook) => webhook.created_at !== undefined && <Time at={webhook.created_at} />,
  },
];

const CreateWebhook = () => {
  const [fields, setFields] = useWebhookFields();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <ConfirmButton
        label={t.webhooks.create}
        effect={t.webhooks.createEffect}
        need="createWebhooks"
        variant="filled"
        size="sm"
        isReady={fields.url.trim() !== '' && fields.events.length > 0}
        onConfirm={async (idempotencyKey) => {
          const body = webhookRequest(fields);
          const created = await call<WebhookWithSecret>('POST', '/v1/webhooks', { body, idempotencyKey });
          setSecret(created.secret);
          // Without it, the webhook stays disabled, which its page shows. The secret is shown anyway.
          await call('PATCH', `/v1/webhooks/${created.id}`, { body: { is_enabled: true } }).catch(() => {});
        }}
      >
        <WebhookForm fields={fields} onChange={setFields} withUrl />
      </ConfirmButton>
      <Secret
        title={t.webhooks.secretTitle}
        note={t.webhooks.secretNote}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
};
