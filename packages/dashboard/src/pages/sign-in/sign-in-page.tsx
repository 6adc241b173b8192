import { Alert, Anchor, Button, Center, Paper, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { call, Failure } from '../../api.ts';
import { linkToken, nextPage } from '../../lib/next-page.ts';
import { readSearch, valueOf } from '../../lib/search-params.ts';
import { readSession, type Session, SESSION_KEY } from '../../session.ts';
import { t } from '../../texts/index.ts';
import { useAddress } from '../../ui/address.ts';
import { sayFailure } from '../../ui/states.tsx';
import { OidcSignIn } from './oidc-sign-in.tsx';
import { PasskeySignIn } from './passkey-sign-in.tsx';

interface Credentials {
  readonly email?: string;
  readonly password?: string;
  readonly link?: string;
  readonly passkey?: object;
}

/** Signs in with a password, or by a link. A link is used only when its button is pressed: programs that look into
 *  mails open links, and each works once. */
export const SignInPage = () => {
  const [link, setLink] = useLink();
  const [credentials, setCredentials] = useState<Credentials | null>(null);
  const { send, failure, isPending } = useSignIn(setCredentials);
  return (
    <Center mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={400} component="main">
        <Stack>
          <Title order={1}>{t.identity.signInTitle}</Title>
          {failure && (
            <Alert color={failure.code === 'code_required' ? 'blue' : 'red'} role="alert">
              {failure.status === 429 ? t.identity.tooMany : sayFailure(failure)}{' '}
              {failure.retryAfter !== undefined && t.states.wait(failure.retryAfter)}
            </Alert>
          )}
          {credentials ? (
            <CodeForm
              isPending={isPending}
              onBack={() => setCredentials(null)}
              onCode={(code) => void send({ ...credentials, code })}
            />
          ) : link === undefined ? (
            <>
              <PasswordForm isPending={isPending} onSubmit={(given) => void send(given)} />
              <PasskeySignIn isPending={isPending} onAnswer={(passkey) => void send({ passkey })} />
              <OidcSignIn />
            </>
          ) : (
            <>
              <Text>{t.identity.linkReady}</Text>
              <Button loading={isPending} onClick={() => void send({ link })} autoFocus>
                {t.identity.signIn}
              </Button>
              <Anchor component="button" type="button" size="sm" onClick={() => setLink(undefined)}>
                {t.identity.otherWay}
              </Anchor>
            </>
          )}
        </Stack>
      </Paper>
    </Center>
  );
};

/** The token of the fragment, which is taken out of the address at once, so that it stays in no history. */
const useLink = () => {
  const [link, setLink] = useState(() => linkToken(location.hash));
  useEffect(() => {
    document.title = `${t.identity.signInTitle} – ${t.appName}`;
    if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
  }, []);
  return [link, setLink] as const;
};

const useSignIn = (onCodeRequired: (credentials: Credentials) => void) => {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isPending, setPending] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const next = nextPage(valueOf(useAddress(), 'next'));
  const send = async (given: Credentials & { readonly code?: string }) => {
    setPending(true);
    setFailure(null);
    try {
      await call<Session>('POST', '/v1/sessions', { body: given });
      // Browsers keep the cookie only over https, or on the machine of the gateway.
      const session = await readSession();
      if (!session) throw new Failure('', { status: 0, code: 'cookie_refused' });
      queries.clear();
      queries.setQueryData(SESSION_KEY, session);
      if (given.link !== undefined && !session.user.has_password) await navigate({ to: '/welcome' });
      else await navigate(placeOf(next));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { code: _, ...credentials } = given;
      if (error.code === 'code_required') onCodeRequired(credentials);
      setFailure(error.code === 'sign_in_failed' ? failureOf(given, error) : error);
    } finally {
      setPending(false);
    }
  };
  return { send, failure, isPending };
};

const placeOf = (path: string) => {
  const [to = '/', query = ''] = path.split('?', 2);
  return { to, search: readSearch(query) };
};

/** With a code, email and password were right before. */
const failureOf = (given: { readonly code?: string; readonly passkey?: object }, error: Failure): Failure => {
  const code = given.passkey ? 'passkey_failed' : given.code === undefined ? error.code : 'code_wrong';
  return new Failure('', { status: error.status, code });
};

interface PasswordFormProps {
  readonly isPending: boolean;
  readonly onSubmit: (credentials: Credentials) => void;
}

const PasswordForm = ({ isPending, onSubmit }: PasswordFormProps) => {
  const form = useForm({ initialValues: { email: '', password: '' } });
  return (
    <form onSubmit={form.onSubmit(({ email, password }) => onSubmit({ email: email.trim(), password }))}>
      <Stack>
        <TextInput
          label={t.identity.email}
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label={t.identity.password}
          autoComplete="current-password"
          required
          withAsterisk={false}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={isPending}>
          {t.identity.signIn}
        </Button>
        <Text size="sm" c="dimmed">
          {t.identity.noAccount}
        </Text>
      </Stack>
    </form>
  );
};

interface CodeFormProps {
  readonly isPending: boolean;
  readonly onBack: () => void;
  readonly onCode: (code: string) => void;
}

const CodeForm = ({ isPending, onBack, onCode }: CodeFormProps) => {
  const form = useForm({ initialValues: { code: '' } });
  return (
    <form onSubmit={form.onSubmit(({ code }) => onCode(code.trim()))}>
      <Stack>
        <TextInput
          label={t.identity.code}
          description={t.identity.codeNote}
          autoComplete="one-time-code"
          autoFocus
          required
          withAsterisk={false}
          {...form.getInputProps('code')}
        />
        <Button type="submit" loading={isPending}>
          {t.identity.signIn}
        </Button>
        <Button variant="subtle" onClick={onBack}>
          {t.identity.back}
        </Button>
      </Stack>
    </form>
  );
};
