import { createLogger } from '@cpg/platform';
import { createOidcProvider } from '../../identity/oidc.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  PUBLIC_URL,
  startOidcProvider,
  type TestAccount,
  type TestOidcProvider,
} from '../../testing/jest-oidc-provider.ts';
import { createTestUser, openBrowser, type TestBrowser } from '../../testing/jest-users.ts';

let gateway: TestGateway;
let provider: TestOidcProvider;
let shop: TestMerchant;
let browser: TestBrowser;
const lines: string[] = [];
let ahead = 0;

const settingsOf = (issuer: string) => ({
  ...{ issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, name: 'Acme', publicUrl: `${PUBLIC_URL}/` },
});
beforeAll(async () => {
  provider = await startOidcProvider();
  gateway = await startGateway({
    oidc: createOidcProvider(settingsOf(provider.issuer)),
    now: () => new Date(Date.now() + ahead),
    log: createLogger({ name: 'gateway', level: 'debug', destination: { write: (line) => void lines.push(line) } }),
  });
  shop = await gateway.merchant();
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
  expect(lines.some((line) => line.includes('a user signed in'))).toBe(true);
  expect(lines.filter((line) => line.includes(CLIENT_SECRET) || line.includes('id_token'))).toEqual([]);
});
beforeEach(() => {
  ahead = 0;
  browser = openBrowser(gateway.app);
});

let accounts = 0;
const accountOf = (email: string): TestAccount => ({ sub: `sub ${(accounts += 1)}`, email, email_verified: true });
const newUser = () => createTestUser(gateway, shop.id, 'support');

/** A page, as a browser opens it after the provider: cookies that are `Strict` stay behind. */
const open = async (url: string, { isFromOtherSite = false } = {}) => {
  const { pathname, search } = new URL(url, PUBLIC_URL);
  const cookies = [...browser.cookies].filter(([name]) => !isFromOtherSite || name === '__Host-oidc');
  const response = await gateway.app.inject({ url: pathname + search, cookies: Object.fromEntries(cookies) });
  for (const { name, value } of response.cookies) {
    if (value === '') browser.cookies.delete(name);
    else browser.cookies.set(name, value);
  }
  expect(response.body).not.toContain(CLIENT_SECRET);
  return { status: response.statusCode, location: response.headers.location!, headers: response.headers };
};
const begin = async (query = '') => (await open(`/v1/sessions/oidc${query}`)).location;
const goBack = async (url: string) => (await open(url, { isFromOtherSite: true })).location;
const signIn = async (account: TestAccount | null, query = '') =>
  goBack(await provider.authorize(await begin(query), account));
const current = () => browser.send('GET', '/v1/sessions/current');
const errorPage = (code: string) => `/dashboard/sign-in?error=${code}`;
const expectNobody = async () => expect((await current()).status).toBe(401);

describe('a sign-in with OpenID Connect', () => {
  test('signs in the user with the verified email address, again with the same account', async () => {
    const { id, email } = await newUser();
    const account = accountOf(email.toUpperCase());
    for (const time of ['first', 'second']) {
      expect([time, await signIn(account)]).toEqual([time, '/dashboard/']);
      expect((await current()).body.user).toMatchObject({ id, role: 'support' });
    }
    const { items } = (await browser.send('GET', '/v1/sessions')).body;
    expect(items).toMatchObject([{ method: 'oidc', is_current: true }]);
  });

  test('uses PKCE, state and nonce, in a cookie that scripts do not get', async () => {
    const { status, location, headers } = await open('/v1/sessions/oidc');
    const query = Object.fromEntries(new URL(location).searchParams);
    expect([status, query]).toEqual([
      303,
      {
        ...{ client_id: CLIENT_ID, response_type: 'code', scope: 'openid email', code_challenge_method: 'S256' },
        redirect_uri: `${PUBLIC_URL}/v1/sessions/oidc/callback`,
        ...{ code_challenge: expect.any(String), nonce: expect.any(String), state: expect.any(String) },
      },
    ]);
    const cookie = String(headers['set-cookie']);
    expect(cookie).toMatch(/^__Host-oidc=v2\.[\w.-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    for (const secret of [query.state, query.nonce]) expect(cookie).not.toContain(secret);
  });

  test('ends the session that the browser had, and keeps the browser known', async () => {
    const { email } = await newUser();
    await browser.signIn(email);
    const before = new Map(browser.cookies);
    await signIn(accountOf(email));
    expect(browser.cookies.get('__Host-browser')).toBe(before.get('__Host-browser'));
    browser.cookies.set('__Host-session', before.get('__Host-session')!);
    await expectNobody();
  });

  test.each([
    ['/orders?status=paid', '/dashboard/orders?status=paid'],
    ['https://evil.example/', '/dashboard/https://evil.example/'],
    ['//evil.example', '/dashboard/evil.example'],
    ['/../../evil', '/dashboard/'],
    ['/%2e%2e/evil', '/dashboard/'],
    ['\\\\evil.example', '/dashboard///evil.example'],
  ])('leads to %s of the dashboard: %s', async (next, expected) => {
    const { email } = await newUser();
    const location = await signIn(accountOf(email), `?next=${encodeURIComponent(next)}`);
    expect(location).toBe(expected);
    expect(new URL(location, PUBLIC_URL).origin).toBe(PUBLIC_URL);
  });

  test('is offered on the sign-in page, by its name', async () => {
    const { body } = await browser.send('GET', '/v1/sessions/methods');
    expect(body).toEqual({ password: true, passkeys: true, oidc: { name: 'Acme' } });
    const other = await startGateway();
    const answer = await openBrowser(other.app).send('GET', '/v1/sessions/methods');
    expect(answer.body.oidc).toBeNull();
    expect((await other.app.inject('/v1/sessions/oidc')).statusCode).toBe(405);
    await other.close();
  });
});

describe('a sign-in with OpenID Connect is refused', () => {
  test.each<[string, (email: string) => Partial<TestAccount>, string]>([
    ['with an unverified email address', () => ({ email_verified: false }), 'oidc_email_unverified'],
    ['with a text in the place of true', () => ({ email_verified: 'true' as never }), 'oidc_email_unverified'],
    ['without an email address', () => ({ email: undefined as never }), 'oidc_email_unverified'],
    ['with an unknown email address', () => ({ email: 'nobody@shop.example' }), 'oidc_unknown_user'],
  ])('%s', async (_, changes, code) => {
    const { email } = await newUser();
    expect(await signIn({ ...accountOf(email), ...changes(email) })).toBe(errorPage(code));
    await expectNobody();
    const { rows } = await gateway.pool.query(`select from gateway.users where lower(email) = 'nobody@shop.example'`);
    expect(rows).toEqual([]);
  });

  test('of a disabled user', async () => {
    const { id, email } = await newUser();
    await gateway.pool.query('update gateway.users set disabled_at = now() where id = $1', [id]);
    expect(await signIn(accountOf(email))).toBe(errorPage('oidc_unknown_user'));
    await expectNobody();
  });

  test('of another account that got the email address, and of one that signs in another user', async () => {
    const [first, second] = [await newUser(), await newUser()];
    const account = accountOf(first.email);
    expect(await signIn(account)).toBe('/dashboard/');
    browser = openBrowser(gateway.app);
    expect(await signIn(accountOf(first.email))).toBe(errorPage('oidc_other_account'));
    expect(await signIn({ ...account, email: second.email })).toBe(errorPage('oidc_other_account'));
    await expectNobody();
    expect(await signIn(account)).toBe('/dashboard/');
  });

  test('with another state, and with the answer for another browser', async () => {
    const { email } = await newUser();
    const answer = await provider.authorize(await begin(), accountOf(email));
    const cookies = new Map(browser.cookies);
    const forged = new URL(answer);
    forged.searchParams.set('state', 'x'.repeat(43));
    expect(await goBack(forged.href)).toBe(errorPage('oidc_failed'));
    expect(await goBack(answer)).toBe(errorPage('oidc_failed'));
    browser = openBrowser(gateway.app);
    await begin();
    expect(await goBack(answer)).toBe(errorPage('oidc_failed'));
    await expectNobody();
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect(await goBack(answer)).toBe('/dashboard/');
  });

  test('with another nonce', async () => {
    const { email } = await newUser();
    const forged = new URL(await begin());
    forged.searchParams.set('nonce', 'x'.repeat(43));
    expect(await goBack(await provider.authorize(forged.href, accountOf(email)))).toBe(errorPage('oidc_failed'));
    await expectNobody();
  });

  test('with another code challenge', async () => {
    const { email } = await newUser();
    const forged = new URL(await begin());
    forged.searchParams.set('code_challenge', 'x'.repeat(43));
    expect(await goBack(await provider.authorize(forged.href, accountOf(email)))).toBe(errorPage('oidc_failed'));
    await expectNobody();
  });

  test('when the answer was used', async () => {
    const { email } = await newUser();
    const answer = await provider.authorize(await begin(), accountOf(email));
    const cookie = browser.cookies.get('__Host-oidc')!;
    expect(await goBack(answer)).toBe('/dashboard/');
    expect(browser.cookies.has('__Host-oidc')).toBe(false);
    browser = openBrowser(gateway.app);
    browser.cookies.set('__Host-oidc', cookie);
    expect(await goBack(answer)).toBe(errorPage('oidc_failed'));
    await expectNobody();
  });

  test('after 10 minutes, and with a cookie that no gateway made', async () => {
    const { email } = await newUser();
    const answer = await provider.authorize(await begin(), accountOf(email));
    ahead = 10 * 60_000;
    expect(await goBack(answer)).toBe(errorPage('oidc_failed'));
    ahead = 0;
    browser.cookies.set('__Host-oidc', 'v2.00000000.AAAA');
    expect(await goBack(answer)).toBe(errorPage('oidc_failed'));
    await expectNobody();
  });

  test('when the user cancels', async () => {
    expect(await signIn(null)).toBe(errorPage('oidc_canceled'));
  });

  test('while the provider is unavailable, when it begins and when it ends', async () => {
    const own = await startOidcProvider();
    const { email } = await newUser();
    const other = await startGateway({ oidc: createOidcProvider(settingsOf(own.issuer)) });
    const before = await other.app.inject('/v1/sessions/oidc');
    const answer = await own.authorize(String(before.headers.location), accountOf(email));
    await own.close();
    const after = await other.app.inject({
      url: answer.slice(PUBLIC_URL.length),
      cookies: Object.fromEntries(before.cookies.map(({ name, value }) => [name, value])),
    });
    expect([after.statusCode, after.headers.location, after.body]).toEqual([303, errorPage('oidc_unavailable'), '']);
    await other.close();
    const late = await startGateway({ oidc: createOidcProvider(settingsOf(own.issuer)) });
    const first = await late.app.inject('/v1/sessions/oidc');
    expect([first.statusCode, first.headers.location]).toEqual([303, errorPage('oidc_unavailable')]);
    await late.close();
  });

  test('too often for one network', async () => {
    const strict = await startGateway({
      oidc: createOidcProvider(settingsOf(provider.issuer)),
      failuresPerMinute: 2,
    });
    const answers = [];
    for (let n = 0; n < 2; n += 1) answers.push(await strict.app.inject('/v1/sessions/oidc/callback?code=x&state=y'));
    expect(answers.map(({ headers }) => headers.location)).toEqual(Array(2).fill(errorPage('oidc_failed')));
    const { email } = await createTestUser(strict, (await strict.merchant()).id, 'owner');
    expect((await openBrowser(strict.app).signIn(email)).status).toBe(429);
    await strict.close();
  });
});
