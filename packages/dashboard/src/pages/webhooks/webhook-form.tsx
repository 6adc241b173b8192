import { Checkbox, Group, Stack, TextInput } from '@mantine/core';
import type { CreateWebhookDto, UpdateWebhookDto, Webhook, WebhookEventType } from '@cpg/sdk';
import { useState } from 'react';
import { t, wordFor } from '../../texts/index.ts';

export interface WebhookFields {
  readonly url: string;
  readonly label: string;
  readonly events: readonly string[];
  readonly filterKey: string;
  readonly filterValue: string;
}

/** The fields of a webhook; of a new one, with every event. */
export const useWebhookFields = (webhook?: Webhook) => {
  const [[filterKey = '', filterValue = ''] = []] = Object.entries(webhook?.filter ?? {});
  return useState<WebhookFields>({
    url: webhook?.url ?? '',
    label: webhook?.label ?? '',
    events: webhook?.events ?? Object.keys(t.webhooks.eventTypes),
    filterKey,
    filterValue,
  });
};

const filterOf = ({ filterKey, filterValue }: WebhookFields) =>
  filterKey.trim() === '' ? undefined : { [filterKey.trim()]: filterValue };

export const webhookRequest = (fields: WebhookFields): CreateWebhookDto => ({
  url: fields.url.trim(),
  events: fields.events as WebhookEventType[],
  ...(fields.label.trim() !== '' && { label: fields.label.trim() }),
  ...(filterOf(fields) && { filter: filterOf(fields) }),
});

export const webhookChange = (fields: WebhookFields): UpdateWebhookDto => ({
  events: fields.events as WebhookEventType[],
  label: fields.label.trim() === '' ? null : fields.label.trim(),
  filter: filterOf(fields) ?? null,
});

interface WebhookFormProps {
  readonly fields: WebhookFields;
  readonly onChange: (fields: WebhookFields) => void;
  readonly withUrl: boolean;
}

export const WebhookForm = ({ fields, onChange, withUrl }: WebhookFormProps) => {
  const set = (changes: Partial<WebhookFields>) => onChange({ ...fields, ...changes });
  const types = [...new Set([...Object.keys(t.webhooks.eventTypes), ...fields.events])];
  return (
    <Stack>
      {withUrl && (
        <TextInput
          label={t.webhooks.url}
          description={t.webhooks.urlNote}
          type="url"
          placeholder="https://shop.example/webhooks"
          value={fields.url}
          onChange={(event) => set({ url: event.currentTarget.value })}
          data-autofocus
        />
      )}
      <TextInput
        label={t.webhooks.label}
        description={t.webhooks.labelNote}
        value={fields.label}
        onChange={(event) => set({ label: event.currentTarget.value })}
      />
      <Checkbox.Group label={t.webhooks.events} value={[...fields.events]} onChange={(events) => set({ events })}>
        <Stack gap={6} mt={4}>
          {types.map((type) => (
            <Checkbox key={type} value={type} label={wordFor(t.webhooks.eventTypes, type)} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group grow>
        <TextInput
          label={`${t.webhooks.filter}: ${t.webhooks.filterKey}`}
          value={fields.filterKey}
          onChange={(event) => set({ filterKey: event.currentTarget.value })}
        />
        <TextInput
          label={t.webhooks.filterValue}
          value={fields.filterValue}
          onChange={(event) => set({ filterValue: event.currentTarget.value })}
        />
      </Group>
    </Stack>
  );
};
