import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import encodeQr from 'qr';
import { useState } from 'react';
import { call } from '../../api.ts';
import { useSession } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton, useAction } from '../../ui/action.tsx';
import { Section } from '../../ui/page.tsx';
import { ActionFailed } from '../../ui/states.tsx';
import { Copy, Id } from '../../ui/values.tsx';

interface Enrolment {
  readonly secret: string;
  readonly uri: string;
}

/** The authenticator app as a second step: turned on with a code of it, and turned off with one. */
export const Totp = () => {
  const { user } = useSession();
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [recovery, setRecovery] = useState<readonly string[] | null>(null);
  const begin = useAction((_: null) => call<Enrolment>('POST', '/v1/account/totp', { body: {} }));
  const start = async () => setEnrolment((await begin.run(null))?.answer ?? null);
  const names = t.identity.account;
  return (
    <Section title={names.totpTitle} note={user.has_totp ? names.totpOn : names.totpOff}>
      {begin.error !== null && <ActionFailed error={begin.error} />}
      {user.has_totp && enrolment === null && <TurnOff />}
      {!user.has_totp && enrolment === null && (
        <Button loading={begin.isPending} onClick={() => void start()}>
          {names.turnOn}
        </Button>
      )}
      {enrolment && (
        <Confirm
          enrolment={enrolment}
          onDone={(codes) => {
            setEnrolment(null);
            setRecovery(codes);
          }}
        />
      )}
      <RecoveryCodes codes={recovery} onClose={() => setRecovery(null)} />
    </Section>
  );
};

const TurnOff = () => {
  const [code, setCode] = useState('');
  return (
    <ConfirmButton
      label={t.identity.account.turnOff}
      effect={t.identity.account.turnOffEffect}
      isReady={code.trim() !== ''}
      color="red.9"
      size="sm"
      onConfirm={() => call('POST', '/v1/account/totp/remove', { body: { code: code.trim() } })}
    >
      <CodeInput value={code} onChange={setCode} />
    </ConfirmButton>
  );
};

interface CodeInputProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

const CodeInput = ({ value, onChange }: CodeInputProps) => (
  <TextInput
    label={t.identity.code}
    autoComplete="one-time-code"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    data-autofocus
  />
);

interface ConfirmProps {
  readonly enrolment: Enrolment;
  readonly onDone: (recoveryCodes: readonly string[]) => void;
}

const Confirm = ({ enrolment, onDone }: ConfirmProps) => {
  const [code, setCode] = useState('');
  const confirm = useAction((given: string) =>
    call<{ recovery_codes: string[] }>('POST', '/v1/account/totp/confirm', { body: { code: given } }),
  );
  const submit = async () => {
    const confirmed = await confirm.run(code.trim());
    if (confirmed) onDone(confirmed.answer.recovery_codes);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Stack maw={440}>
        <Text size="sm">{t.identity.account.scan}</Text>
        <Qr text={enrolment.uri} />
        <div>
          <Text size="sm">{t.identity.account.secret}</Text>
          <Id value={enrolment.secret} short={false} />
        </div>
        <CodeInput value={code} onChange={setCode} />
        {confirm.error !== null && <ActionFailed error={confirm.error} />}
        <Group>
          <Button type="submit" loading={confirm.isPending} disabled={code.trim() === ''}>
            {t.identity.account.confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

/** Black on white in both color schemes: some apps read nothing else. */
const Qr = ({ text }: { readonly text: string }) => {
  const rows = encodeQr(text, 'raw', { border: 2 });
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      width={200}
      height={200}
      role="img"
      aria-label={t.identity.account.qrLabel}
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
};

interface RecoveryCodesProps {
  readonly codes: readonly string[] | null;
  readonly onClose: () => void;
}

const RecoveryCodes = ({ codes, onClose }: RecoveryCodesProps) => (
  <Modal
    opened={codes !== null}
    onClose={onClose}
    title={t.identity.account.recovery}
    closeOnClickOutside={false}
    withCloseButton={false}
    centered
  >
    <Stack>
      <Text size="sm">{t.identity.account.recoveryNote}</Text>
      <Group align="start" wrap="nowrap">
        <pre className="secret">{codes?.join('\n')}</pre>
        <Copy value={codes?.join('\n') ?? ''} />
      </Group>
      <Group justify="flex-end">
        <Button onClick={onClose}>{t.actions.storedIt}</Button>
      </Group>
    </Stack>
  </Modal>
);
