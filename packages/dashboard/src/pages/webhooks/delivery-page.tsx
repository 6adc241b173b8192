import { Code, Grid, Paper, Stack, Text, Title } from '@mantine/core';
import type { DeliveryAttempt, DeliveryWithAttempts, Webhook } from '@cpg/sdk';
import { call } from '../../api.ts';
import { useLive } from '../../queries.ts';
import { t, wordFor } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { useParam } from '../../ui/address.ts';
import { PageLink } from '../../ui/links.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Empty, Loaded, Needs } from '../../ui/states.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';

export const DeliveryPage = () => {
  const names = t.webhooks.deliveries;
  const webhookPath = `/v1/webhooks/${encodeURIComponent(useParam('webhook'))}`;
  const path = `${webhookPath}/deliveries/${encodeURIComponent(useParam('id'))}`;
  const delivery = useLive<DeliveryWithAttempts>(path);
  const webhook = useLive<Webhook>(webhookPath);
  return (
    <Page
      title={names.one}
      beside={delivery.data && <Status value={delivery.data.status} words={names.statuses} />}
      actions={
        delivery.data && (
          <ConfirmButton
            label={names.redeliver}
            effect={names.redeliverEffect}
            need="updateWebhooks"
            onConfirm={(idempotencyKey) => call('POST', `${path}/redeliver`, { body: {}, idempotencyKey })}
          />
        )
      }
    >
      <Needs need="readWebhooks">
        <Loaded query={delivery}>
          {(data) => (
            <>
              <DeliveryFacts delivery={data} url={webhook.data?.url} />
              <Grid gap="lg">
                <Grid.Col span={{ base: 12, md: 6 }}>
                  <Request delivery={data} />
                </Grid.Col>
                <Grid.Col span={{ base: 12, md: 6 }}>
                  <Answers attempts={data.attempts} />
                </Grid.Col>
              </Grid>
            </>
          )}
        </Loaded>
      </Needs>
    </Page>
  );
};

interface DeliveryFactsProps {
  readonly delivery: DeliveryWithAttempts;
  readonly url: string | undefined;
}

const DeliveryFacts = ({ delivery, url }: DeliveryFactsProps) => {
  const names = t.webhooks.deliveries;
  return (
    <Section title={wordFor(t.webhooks.eventTypes, delivery.event_type)}>
      <Facts
        facts={[
          [
            names.webhook,
            <PageLink key="webhook" to={`/webhooks/${delivery.webhook_id}`} className="breaking">
              {url ?? delivery.webhook_id}
            </PageLink>,
          ],
          [names.attempts, delivery.attempt_count],
          [names.next, delivery.next_attempt_at !== undefined && <Time at={delivery.next_attempt_at} />],
          [names.created, <Time key="created" at={delivery.created_at} exact />],
          ['x-delivery-id', <Id key="id" value={delivery.id} />],
          ['x-idempotency-key', <Id key="event" value={delivery.event_id} />],
        ]}
      />
    </Section>
  );
};

const Request = ({ delivery: { payload } }: { readonly delivery: DeliveryWithAttempts }) => (
  <Section title={t.webhooks.deliveries.request}>
    {payload === undefined ? (
      <Empty>{t.webhooks.deliveries.noBody}</Empty>
    ) : (
      <Code block className="code-block" tabIndex={0}>
        {JSON.stringify(payload, null, 2)}
      </Code>
    )}
  </Section>
);

/** Newest first: the last answer says why the delivery stands as it does. */
const Answers = ({ attempts }: { readonly attempts: readonly DeliveryAttempt[] }) => (
  <Section title={t.webhooks.deliveries.response}>
    {attempts.length === 0 && <Empty>{t.webhooks.deliveries.noAttempts}</Empty>}
    <Stack>
      {attempts.toReversed().map((attempt) => (
        <Answer key={attempt.number} attempt={attempt} />
      ))}
    </Stack>
  </Section>
);

const Answer = ({ attempt }: { readonly attempt: DeliveryAttempt }) => {
  const names = t.webhooks.deliveries;
  return (
    <Paper withBorder p="sm">
      <Title order={3} size="sm">
        {names.attempt(attempt.number)}
        {attempt.status_code !== undefined && `: ${attempt.status_code}`}
      </Title>
      <Text size="sm">{wordFor(names.outcomes, attempt.outcome)}</Text>
      <Text size="xs" c="dimmed">
        <Time at={attempt.started_at} exact />, {names.took(attempt.duration_ms)}
      </Text>
      {attempt.error !== undefined && <Text size="sm">{attempt.error}</Text>}
      {attempt.response !== undefined && attempt.response !== '' && (
        <Code block className="code-block" mt="xs" tabIndex={0}>
          {attempt.response}
        </Code>
      )}
      {attempt.status_code === undefined && attempt.error === undefined && <Text size="sm">{names.noAnswer}</Text>}
    </Paper>
  );
};
