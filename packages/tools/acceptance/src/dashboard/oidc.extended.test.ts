import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { createUser, openShop } from '../harness/merchants.ts';
import { reservePorts, type ReservedPorts, STANDARD_PORTS } from '../harness/ports.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { canTestInChromium, DESKTOP, startChromium, visit } from '../harness/browser.ts';

const onDashboard = canTestInChromium('tests of OpenID Connect') ? describe : describe.skip;
const SLOW = 300_000;
const SECONDS = 600;
const CLIENT = { client_id: 'gateway', client_secret: 'secret of the client of these tests' };

onDashboard('OpenID Connect on the dashboard', () => {
  let ports: ReservedPorts;
  let provider: Server;
  let stack: Stack;
  let browser: Browser;
  let gateway: string;
  beforeAll(async () => {
    ports = await reservePorts();
    gateway = `http://localhost:${STANDARD_PORTS.gateway + ports.offset}`;
    provider = await startProvider(`${gateway}/v1/sessions/oidc/callback`);
    const env = {
      PORT_OFFSET: String(ports.offset),
      PUBLIC_URL: gateway,
      OIDC_ISSUER: issuerOf(provider),
      OIDC_CLIENT_ID: CLIENT.client_id,
      OIDC_CLIENT_SECRET: CLIENT.client_secret,
      OIDC_NAME: 'Acme',
    };
    [stack, browser] = await Promise.all([startStack({ env }), startChromium()]);
  }, SLOW);
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    provider?.closeAllConnections();
    provider?.close();
    ports?.release();
  }, SLOW);

  /** Signs in on the pages of the provider, which takes every password. */
  const signInAs = async (email: string) => {
    const { page, close } = await visit(browser, `${gateway}/dashboard/sign-in?next=%2Forders`, DESKTOP);
    await page.getByRole('link', { name: 'Sign in with Acme' }).click();
    await page.locator('input[name=login]').fill(email);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${gateway}/dashboard/**`);
    return { page, close };
  };

  test(
    'a user signs in at a provider on another site, and is led to the page that they wanted',
    async () => {
      const shop = await openShop(stack);
      const email = `${randomUUID()}@shop.example`;
      await createUser(stack, shop.id, { email: email, name: null, role: 'owner' });
      const { page, close } = await signInAs(email);
      const session = await page.evaluate<{ user: { email: string } }>(
        `fetch('/v1/sessions/current').then((answer) => answer.json())`,
      );
      expect([session.user.email, new URL(page.url()).pathname]).toEqual([email, '/dashboard/orders']);
      await shop.api.close();
      await close();
    },
    SLOW,
  );

  test(
    'an email address without a user is refused in words',
    async () => {
      const { page, close } = await signInAs(`${randomUUID()}@shop.example`);
      await page.getByText('Nobody with your email address may sign in here.').waitFor();
      await close();
    },
    SLOW,
  );
});

const issuerOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** A provider with login pages, whose accounts have their login as verified email address. */
const startProvider = async (redirectUri: string): Promise<Server> => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { warn } = console;
  // It warns that its store and its keys are those of tests.
  console.warn = () => {};
  const { default: Provider } = await import('oidc-provider');
  const provider = new Provider(issuerOf(server), {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    ttl: { AccessToken: SECONDS, Grant: SECONDS, IdToken: SECONDS, Interaction: SECONDS, Session: SECONDS },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, email: accountId, email_verified: true }),
    }),
  });
  const answer = provider.callback();
  console.warn = warn;
  server.on('request', (request, response) => void answer(request, response));
  return server;
};
