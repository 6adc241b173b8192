import { NativeSelect } from '@mantine/core';
import type { Webhook, WebhookWithSecret } from '@cpg/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../../api.ts';
import { useSession } from '../../session.ts';
import { t, wordFor } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { Secret } from '../../ui/secret.tsx';
import { useWebhookFields, webhookChange, WebhookForm } from './webhook-form.tsx';

interface ActionProps {
  readonly webhook: Webhook;
}

const pathOf = ({ id }: Webhook): string => `/v1/webhooks/${id}`;

export const WebhookActions = ({ webhook }: ActionProps) => {
  const navigate = useNavigate();
  const isSandbox = useSession().environment === 'sandbox';
  return (
    <>
      {isSandbox && <Test webhook={webhook} />}
      <Edit webhook={webhook} />
      <Rotate webhook={webhook} />
      <ConfirmButton
        label={webhook.is_enabled ? t.webhooks.disable : t.webhooks.enable}
        effect={webhook.is_enabled ? t.webhooks.disableEffect : t.webhooks.enableEffect}
        need="updateWebhooks"
        onConfirm={() => call('PATCH', pathOf(webhook), { body: { is_enabled: !webhook.is_enabled } })}
      />
      <ConfirmButton
        label={t.webhooks.remove}
        effect={t.webhooks.removeEffect}
        need="deleteWebhooks"
        color="red.9"
        onConfirm={async () => {
          await call('DELETE', pathOf(webhook));
          await navigate({ to: '/webhooks' });
        }}
      />
    </>
  );
};

const Test = ({ webhook }: ActionProps) => {
  const [type, setType] = useState('order:paid');
  return (
    <ConfirmButton
      label={t.webhooks.test}
      effect={t.webhooks.testEffect}
      need="updateWebhooks"
      onConfirm={() => call('POST', '/debug/test-webhook', { body: { webhook_id: webhook.id, event_type: type } })}
    >
      <NativeSelect
        label={t.webhooks.testType}
        value={type}
        onChange={(event) => setType(event.currentTarget.value)}
        data={Object.keys(t.webhooks.eventTypes).map((value) => ({
          value,
          label: wordFor(t.webhooks.eventTypes, value),
        }))}
      />
    </ConfirmButton>
  );
};

const Edit = ({ webhook }: ActionProps) => {
  const [fields, setFields] = useWebhookFields(webhook);
  return (
    <ConfirmButton
      label={t.webhooks.edit}
      effect={t.webhooks.editEffect}
      need="updateWebhooks"
      isReady={fields.events.length > 0}
      onConfirm={() => call('PATCH', pathOf(webhook), { body: webhookChange(fields) })}
    >
      <WebhookForm fields={fields} onChange={setFields} withUrl={false} />
    </ConfirmButton>
  );
};

const Rotate = ({ webhook }: ActionProps) => {
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <ConfirmButton
        label={t.webhooks.rotate}
        effect={t.webhooks.rotateEffect}
        need="updateWebhooks"
        onConfirm={async (idempotencyKey) => {
          const path = `${pathOf(webhook)}/rotate-secret`;
          setSecret((await call<WebhookWithSecret>('POST', path, { body: {}, idempotencyKey })).secret);
        }}
      />
      <Secret
        title={t.webhooks.secretTitle}
        note={t.webhooks.secretNote}
        value={secret}
        onClose={() => setSecret(null)}
      />
    </>
  );
};
