import { Alert, Code } from '@mantine/core';
import type { DeliveryPage, Webhook } from '@cpg/sdk';
import { useLive } from '../../queries.ts';
import { t, wordFor } from '../../texts/index.ts';
import { useParam } from '../../ui/address.ts';
import { PageLink } from '../../ui/links.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { DataTable } from '../../ui/table.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';
import { deliveryColumns } from './delivery-columns.tsx';
import { Health } from './health.tsx';
import { Replays } from './replays.tsx';
import { WebhookActions } from './webhook-actions.tsx';

export const WebhookDetailPage = () => {
  const path = `/v1/webhooks/${encodeURIComponent(useParam('id'))}`;
  const webhook = useLive<Webhook>(path);
  const { data } = webhook;
  return (
    <Page
      title={data?.label ?? t.webhooks.deliveries.webhook}
      beside={data && <Status value={data.is_enabled ? 'enabled' : 'disabled'} words={t.webhooks.states} />}
      actions={data && <WebhookActions webhook={data} />}
    >
      <Needs need="readWebhooks">
        <Loaded query={webhook}>
          {(shown) => (
            <>
              {!shown.is_enabled && (
                <Alert color="red">
                  {shown.disabled_reason === undefined
                    ? t.webhooks.disabledByYou
                    : t.webhooks.disabledBecause(shown.disabled_reason)}
                </Alert>
              )}
              <WebhookFacts webhook={shown} />
              <Health webhook={shown} />
              <LastDeliveries webhook={shown} />
              <Replays webhook={shown} />
            </>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

const WebhookFacts = ({ webhook }: { readonly webhook: Webhook }) => (
  <Section title={t.webhooks.url}>
    <Facts
      facts={[
        [t.webhooks.url, <Id key="url" value={webhook.url} short={false} />],
        ['Id', <Id key="id" value={webhook.id} />],
        [t.webhooks.created, webhook.created_at !== undefined && <Time at={webhook.created_at} exact />],
        [
          t.webhooks.filter,
          webhook.filter && <Code>{Object.entries(webhook.filter).map((each) => each.join(' = '))}</Code>,
        ],
        [t.webhooks.events, webhook.events.map((type) => wordFor(t.webhooks.eventTypes, type)).join(', ')],
      ]}
    />
  </Section>
);

const LastDeliveries = ({ webhook: { id } }: { readonly webhook: Webhook }) => {
  const deliveries = useLive<DeliveryPage>(`/v1/webhooks/${id}/deliveries?limit=10`);
  return (
    <Section
      title={t.webhooks.deliveries.title}
      actions={
        <PageLink to="/deliveries" search={{ webhook_id: id }}>
          {t.list.shown(deliveries.data?.count ?? 0, deliveries.data?.total ?? 0)}
        </PageLink>
      }
    >
      <Loaded query={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>{t.webhooks.deliveries.empty}</Empty>
          ) : (
            <DataTable label={t.webhooks.deliveries.title} columns={deliveryColumns()} rows={items} />
          )
        }
      </Loaded>
    </Section>
  );
};
