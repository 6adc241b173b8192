import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Provider from 'oidc-provider';

export const CLIENT_ID = 'gateway';
export const CLIENT_SECRET = 'secret of the client, which nobody sees';
export const PUBLIC_URL = 'https://pay.example.com';
const REDIRECT_URI = `${PUBLIC_URL}/v1/sessions/oidc/callback`;
const SECONDS = 60;

/** An account at the provider. */
export interface TestAccount {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
}

export interface TestOidcProvider {
  readonly issuer: string;
  /** Signs the account in at the address where the gateway sent the browser. Returns where the provider sends it back;
   *  null cancels. */
  readonly authorize: (location: string, account: TestAccount | null) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A certified provider as a server of this machine, whose pages nobody has to click through. */
export const startOidcProvider = async (): Promise<TestOidcProvider> => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, TestAccount>();
  let current: TestAccount | null = null;

  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  const provider = await quietly(
    async () =>
      new (await import('oidc-provider')).default(issuer, {
        clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [REDIRECT_URI] }],
        jwks: { keys: [{ ...key, kty: 'RSA', kid: 'key of the tests', use: 'sig', alg: 'RS256' }] },
        cookies: { keys: ['cookies of the tests'] },
        claims: { openid: ['sub'], email: ['email', 'email_verified'] },
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        pkce: { required: () => true },
        ttl: Object.fromEntries(
          ['AccessToken', 'AuthorizationCode', 'Grant', 'IdToken', 'Interaction', 'Session'].map((name) => [
            name,
            SECONDS,
          ]),
        ),
        findAccount: (_, accountId) => ({ accountId, claims: () => ({ ...accounts.get(accountId), sub: accountId }) }),
        loadExistingGrant: async ({ oidc }) => {
          const grant = new oidc.provider.Grant({ clientId: CLIENT_ID, accountId: oidc.session!.accountId! });
          grant.addOIDCScope('openid email');
          await grant.save();
          return grant;
        },
      }),
  );
  const finishInteraction = async (request: IncomingMessage, response: ServerResponse) => {
    const result = current === null ? { error: 'access_denied' } : { login: { accountId: current.sub } };
    await provider.interactionFinished(request, response, result);
  };
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/')) void finishInteraction(request, response);
    else void answer(request, response);
  });

  return {
    issuer,
    authorize: async (location, account) => {
      current = account;
      if (account) accounts.set(account.sub, account);
      const cookies = new Map<string, string>();
      let url = location;
      while (url.startsWith(issuer)) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(url, { redirect: 'manual', headers: { cookie, connection: 'close' } });
        for (const each of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
          cookies.set(name, value);
        }
        const next = response.headers.get('location');
        if (next === null) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
        url = new URL(next, url).href;
      }
      return url;
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
};

/** The provider warns at its start: its store is one of tests. */
const quietly = async (work: () => Promise<Provider>): Promise<Provider> => {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
};
