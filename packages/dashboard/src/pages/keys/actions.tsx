import { NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import type { ApiKey, ApiKeyWithSecret, CreateApiKeyDto, Scope } from '@cpg/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { nowMs } from '../../lib/clock.ts';
import { endOfDay } from '../../lib/filters.ts';
import { unusedScopes } from '../../lib/unused-scopes.ts';
import { useSession } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton } from '../../ui/action.tsx';
import { Secret } from '../../ui/secret.tsx';
import { ScopeChoice, ScopeList } from './scopes.tsx';

interface KeyFields {
  readonly label: string;
  readonly scopes: readonly string[];
  readonly addresses: string;
  readonly expires: string;
}

const linesOf = (text: string): string[] => text.split(/[\n,]/).flatMap((line) => line.trim() || []);

/** Keys of users do not exist: these scopes are of sessions alone. */
const isOfKeys = (scope: string): boolean => !scope.startsWith('users:');

const createRequest = ({ label, scopes, addresses, expires }: KeyFields): CreateApiKeyDto => ({
  scopes: scopes as Scope[],
  allowed_ips: linesOf(addresses),
  ...(label.trim() !== '' && { label: label.trim() }),
  ...(endOfDay(expires) !== undefined && { expires_at: endOfDay(expires) }),
});

/** A key for a shop: what it needs to sell, and nothing else. */
const SHOP_SCOPES = ['orders:self:create', 'orders:self:read', 'orders:self:update', 'payments:self:read'];

export const CreateKey = () => {
  const { scopes, environment } = useSession();
  const possible = scopes.filter(isOfKeys);
  const [fields, setFields] = useState<KeyFields>({
    label: '',
    scopes: SHOP_SCOPES.filter((scope) => possible.includes(scope)),
    addresses: '',
    expires: '',
  });
  const [secret, setSecret] = useState<string | null>(null);
  const names = t.settings.keys;
  return (
    <>
      <ConfirmButton
        label={names.create}
        effect={`${names.createEffect} ${names.environment(environment)}`}
        need="createKeys"
        variant="filled"
        size="sm"
        isReady={fields.scopes.length > 0}
        onConfirm={async (idempotencyKey) => {
          const body = createRequest(fields);
          setSecret((await call<ApiKeyWithSecret>('POST', '/v1/api-keys', { body, idempotencyKey })).key);
        }}
      >
        <KeyForm fields={fields} onChange={setFields} scopes={possible} withExpiry />
      </ConfirmButton>
      <Secret title={names.secretTitle} note={names.secretNote} value={secret} onClose={() => setSecret(null)} />
    </>
  );
};

interface KeyFormProps {
  readonly fields: KeyFields;
  readonly onChange: (fields: KeyFields) => void;
  readonly scopes: readonly string[];
  readonly withExpiry: boolean;
}

const KeyForm = ({ fields, onChange, scopes, withExpiry }: KeyFormProps) => {
  const names = t.settings.keys;
  const set = (changes: Partial<KeyFields>) => onChange({ ...fields, ...changes });
  return (
    <Stack>
      <TextInput
        label={names.label}
        description={names.labelNote}
        value={fields.label}
        onChange={(event) => set({ label: event.currentTarget.value })}
        data-autofocus
      />
      <ScopeChoice scopes={scopes} value={fields.scopes} onChange={(chosen) => set({ scopes: chosen })} />
      <Textarea
        label={names.addresses}
        description={names.addressesNote}
        rows={2}
        value={fields.addresses}
        onChange={(event) => set({ addresses: event.currentTarget.value })}
      />
      {withExpiry && (
        <TextInput
          type="date"
          label={names.expires}
          description={names.expiresNote}
          value={fields.expires}
          onChange={(event) => set({ expires: event.currentTarget.value })}
        />
      )}
    </Stack>
  );
};

interface KeyActionsProps {
  readonly apiKey: ApiKey;
}

export const KeyActions = ({ apiKey }: KeyActionsProps) => (
  <>
    <Edit apiKey={apiKey} />
    {apiKey.rotated_at === undefined && <Rotate apiKey={apiKey} />}
    <ConfirmButton
      label={t.settings.keys.revoke}
      effect={
        <>
          <b>{apiKey.label ?? apiKey.prefix}</b>: {t.settings.keys.revokeEffect}
        </>
      }
      need="revokeKeys"
      color="red.9"
      onConfirm={(idempotencyKey) => call('POST', `/v1/api-keys/${apiKey.id}/revoke`, { body: {}, idempotencyKey })}
    />
  </>
);

interface EditProps extends KeyActionsProps {
  readonly label?: string;
  /** The scopes that are checked at first. */
  readonly scopes?: readonly string[];
}

const Edit = ({ apiKey, label: name = t.settings.keys.edit, scopes: checked = apiKey.scopes }: EditProps) => {
  const { scopes } = useSession();
  const [fields, setFields] = useState<KeyFields>({
    label: apiKey.label ?? '',
    scopes: checked,
    addresses: apiKey.allowed_ips.join('\n'),
    expires: '',
  });
  const label = fields.label.trim() === '' ? null : fields.label.trim();
  const body = { label, scopes: fields.scopes, allowed_ips: linesOf(fields.addresses) };
  return (
    <ConfirmButton
      label={name}
      effect={t.settings.keys.editEffect}
      need="updateKeys"
      isReady={fields.scopes.length > 0}
      onConfirm={() => call('PATCH', `/v1/api-keys/${apiKey.id}`, { body })}
    >
      <KeyForm
        fields={fields}
        onChange={setFields}
        scopes={[...new Set([...scopes.filter(isOfKeys), ...apiKey.scopes])]}
        withExpiry={false}
      />
    </ConfirmButton>
  );
};

/** The scopes that a key does not use, with the form that takes them away. A key that uses none can be revoked. */
export const UnusedScopes = ({ apiKey }: KeyActionsProps) => {
  const unused = unusedScopes(apiKey, nowMs());
  const used = apiKey.scopes.filter((scope) => !unused.includes(scope));
  const names = t.settings.keys;
  if (unused.length === 0) return null;
  return (
    <Stack gap={4} mt={4} align="start">
      <Text size="xs">{used.length === 0 ? names.allUnused : names.unused}</Text>
      {used.length > 0 && <ScopeList scopes={unused} />}
      {used.length > 0 && <Edit key={unused.join()} apiKey={apiKey} label={names.takeAway} scopes={used} />}
    </Stack>
  );
};

const Rotate = ({ apiKey }: KeyActionsProps) => {
  const [overlap, setOverlap] = useState('86400');
  const [secret, setSecret] = useState<string | null>(null);
  const names = t.settings.keys;
  return (
    <>
      <ConfirmButton
        label={names.rotate}
        effect={<Text inherit>{names.rotateEffect}</Text>}
        need="updateKeys"
        onConfirm={async (idempotencyKey) => {
          const body = { overlap_seconds: Number(overlap) };
          const path = `/v1/api-keys/${apiKey.id}/rotate`;
          setSecret((await call<ApiKeyWithSecret>('POST', path, { body, idempotencyKey })).key);
        }}
      >
        <NativeSelect
          label={names.overlap}
          value={overlap}
          onChange={(event) => setOverlap(event.currentTarget.value)}
          data={Object.entries(names.overlaps).map(([value, label]) => ({ value, label }))}
        />
      </ConfirmButton>
      <Secret title={names.secretTitle} note={names.secretNote} value={secret} onClose={() => setSecret(null)} />
    </>
  );
};
