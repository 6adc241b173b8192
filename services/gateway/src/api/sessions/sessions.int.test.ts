import { createHash } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { setMerchantStatus } from '../../admin/merchants.ts';
import { ROLES } from '../../identity/roles.ts';
import { makeSignInLink, pathOfLink } from '../../identity/sign-in-links.ts';
import { deleteEndedSignIns } from '../../identity/sessions.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { createTestUser, openBrowser, PASSWORD, type TestBrowser } from '../../testing/jest-users.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let clock = new Date('2026-01-31T12:00:00Z');
const later = (ms: number) => {
  clock = new Date(clock.getTime() + ms);
};
let gateway: TestGateway;
let shop: TestMerchant;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await startGateway({ now: () => clock });
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());
beforeEach(() => {
  browser = openBrowser(gateway.app);
});

const newUser = (role: keyof typeof ROLES = 'owner') => createTestUser(gateway, shop.id, role, clock);
const linkFor = async ({ id }: { id: string }) =>
  pathOfLink(await makeSignInLink(gateway.pool, id, { by: 'tests', at: clock }));

describe('sign-in with a password', () => {
  test('starts a session, whose cookie scripts and other sites do not get', async () => {
    const { id, email } = await newUser('support');
    const { status, body, headers } = await browser.signIn(email.toUpperCase());
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^ses_/),
      user: { id, email, role: 'support', has_password: true, needs_current_password: true, has_totp: false },
      merchant: { id: shop.id, name: 'Ada Byron' },
      scopes: ROLES.support.scopes,
      environment: 'sandbox',
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      created_at: clock.toISOString(),
      expires_at: new Date(clock.getTime() + 7 * DAY).toISOString(),
    });
    const cookies = [headers['set-cookie']].flat().map(String);
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-(session|browser)=[\w-]{43};/);
      expect(cookie).toContain('Path=/; ');
      expect(cookie).toContain('HttpOnly; Secure; SameSite=Strict');
    }
    expect(headers['cache-control']).toBe('no-store');
    expect((await browser.send('GET', '/v1/sessions/current')).body).toEqual(body);
  });

  test('stores neither the token of the session nor that of the browser', async () => {
    const { id, email } = await newUser();
    await browser.signIn(email);
    const { rows } = await gateway.pool.query(
      'select s.*, b.token_hash as browser_hash from gateway.sessions s join gateway.known_browsers b using (user_id) where user_id = $1',
      [id],
    );
    const stored = JSON.stringify(rows);
    for (const [name, value] of browser.cookies) {
      expect({ name, isStored: stored.includes(value) }).toEqual({ name, isStored: false });
      expect(stored).toContain(createHash('sha256').update(value).digest('base64url'));
    }
  });

  test('a wrong password, an unknown address and a disabled user get the same answer', async () => {
    const { email } = await newUser();
    const disabled = await newUser();
    await gateway.pool.query('update gateway.users set disabled_at = $2 where id = $1', [disabled.id, clock]);
    const answers = [
      await browser.signIn(email, 'wrong horse battery'),
      await browser.signIn('nobody@shop.example'),
      await browser.signIn(disabled.email),
    ];
    for (const { status, body } of answers)
      expect([status, body.code, body.message]).toEqual([
        401,
        'sign_in_failed',
        'the email address or the password is wrong',
      ]);
    expect(browser.cookies.size).toBe(0);
  });

  test('a user without a password cannot sign in with any', async () => {
    const { id, email } = await newUser();
    await gateway.pool.query('update gateway.users set password_hash = null where id = $1', [id]);
    expect((await browser.signIn(email, '')).status).toBe(400);
    expect((await browser.signIn(email)).body.code).toBe('sign_in_failed');
  });

  test('makes a new session each time, and ends the one that the browser had', async () => {
    const { email } = await newUser();
    await browser.signIn(email);
    const [before] = [browser.cookies.get('__Host-session')];
    await browser.signIn(email);
    expect(browser.cookies.get('__Host-session')).not.toBe(before);
    browser.cookies.set('__Host-session', before!);
    expect((await browser.send('GET', '/v1/sessions/current')).status).toBe(401);
  });

  test('a browser that calls itself known by an easy word gets a token of ours', async () => {
    const { email } = await newUser();
    browser.cookies.set('__Host-browser', 'mine');
    await browser.signIn(email);
    expect(browser.cookies.get('__Host-browser')).toMatch(/^[\w-]{43}$/);
  });

  test('no session gets a token that the client chose', async () => {
    const { email } = await newUser();
    const chosen = 'x'.repeat(43);
    browser.cookies.set('__Host-session', chosen);
    await browser.signIn(email);
    expect(browser.cookies.get('__Host-session')).not.toBe(chosen);
  });

  test.each<[string, object, string]>([
    ['nothing', {}, 'must have email and password, or link, or passkey'],
    ['an address alone', { email: 'a@b.example' }, 'must have email and password, or link, or passkey'],
    ['both', { email: 'a@b.example', password: 'x', link: 'y' }, 'must have email and password, or link, or passkey'],
  ])('%s is refused', async (_, body, message) => {
    const answer = await browser.send('POST', '/v1/sessions', body);
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
  });
});

describe('wrong passwords', () => {
  const attempts = async (email: string, count: number, password = 'wrong horse battery') => {
    const statuses = [];
    // Each from another address.
    for (let n = 0; n < count; n += 1)
      statuses.push((await openBrowser(gateway.app, { address: `10.1.${n}.1` }).signIn(email, password)).status);
    return statuses;
  };

  test('25 from 25 addresses: 10 are checked, and the right one is not either', async () => {
    const { email } = await newUser();
    expect((await attempts(email, 25)).filter((status) => status === 401)).toHaveLength(10);
    const { status, headers, body } = await browser.signIn(email);
    expect([status, headers['retry-after'], body.code]).toEqual([429, '900', 'rate_limited']);
    later(15 * MINUTE);
    expect((await browser.signIn(email)).status).toBe(201);
  });

  test('25 at once are checked 10 times at most', async () => {
    const { email } = await newUser();
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, n) =>
        openBrowser(gateway.app, { address: `10.2.${n}.1` }).signIn(email, 'wrong horse battery'),
      ),
    );
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
  });

  test('a browser in which the user signed in before is not locked out, and has 10 attempts of its own', async () => {
    const { email } = await newUser();
    await browser.signIn(email);
    await browser.send('DELETE', '/v1/sessions/current');
    await attempts(email, 12);
    expect((await openBrowser(gateway.app).signIn(email)).status).toBe(429);
    expect((await browser.signIn(email)).status).toBe(201);
    const own = [];
    for (let n = 0; n < 12; n += 1) own.push((await browser.signIn(email, 'wrong horse battery')).status);
    expect(own.filter((status) => status === 401)).toHaveLength(10);
  });

  test('a link works while the password is locked', async () => {
    const user = await newUser();
    await attempts(user.email, 12);
    expect((await browser.signInByLink(await linkFor(user))).status).toBe(201);
  });

  test('an account that does not exist is locked in the same way', async () => {
    expect((await attempts('nobody.at.all@shop.example', 12)).slice(-2)).toEqual([429, 429]);
  });

  test('the attempts of another account do not count', async () => {
    const [first, second] = [await newUser(), await newUser()];
    await attempts(first.email, 12);
    expect((await browser.signIn(second.email)).status).toBe(201);
  });
});

describe('a sign-in link', () => {
  test('works once', async () => {
    const user = await newUser();
    const link = await linkFor(user);
    expect(link).toMatch(/^\/dashboard\/sign-in#link=[\w-]{43}$/);
    expect((await browser.signInByLink(link)).body).toMatchObject({ user: { id: user.id } });
    expect((await openBrowser(gateway.app).signInByLink(link)).body).toMatchObject({
      statusCode: 401,
      code: 'link_invalid',
    });
  });

  test('works once, also when it is used twice at the same time', async () => {
    const link = await linkFor(await newUser());
    const answers = await Promise.all([1, 2, 3].map(() => openBrowser(gateway.app).signInByLink(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
  });

  test('works for three days', async () => {
    const [early, late] = [await linkFor(await newUser()), await linkFor(await newUser())];
    later(3 * DAY - 1);
    expect((await browser.signInByLink(early)).status).toBe(201);
    later(1);
    expect((await browser.signInByLink(late)).body.code).toBe('link_invalid');
  });

  test('is replaced by a newer one', async () => {
    const user = await newUser();
    const [first, second] = [await linkFor(user), await linkFor(user)];
    expect((await browser.signInByLink(first)).status).toBe(401);
    expect((await browser.signInByLink(second)).status).toBe(201);
  });

  test('of a disabled user does not work', async () => {
    const user = await newUser();
    const link = await linkFor(user);
    await gateway.pool.query('update gateway.users set disabled_at = $2 where id = $1', [user.id, clock]);
    expect((await browser.signInByLink(link)).status).toBe(401);
  });
});

describe('a session', () => {
  const signedIn = async (role: keyof typeof ROLES = 'owner') => {
    const user = await newUser(role);
    await browser.signIn(user.email);
    return user;
  };
  const current = async () => (await browser.send('GET', '/v1/sessions/current')).status;

  test('does what its role allows, as an API key with these scopes', async () => {
    await signedIn('viewer');
    expect((await browser.send('GET', '/v1/orders')).status).toBe(200);
    const refused = await browser.send('POST', '/v1/webhooks', { url: 'https://shop.example/hook', events: ['*'] });
    expect([refused.status, refused.body.required_scope]).toEqual([403, 'webhooks:self:create']);
  });

  test('the user is the actor of what they do', async () => {
    const { id } = await signedIn('owner');
    gateway.orders.calls.length = 0;
    await browser.send('POST', `/v1/orders/ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C/cancel`);
    expect(gateway.orders.calls.map(({ headers }) => headers['x-actor'])).toEqual([`user:${id}`]);
  });

  test('ends with sign-out: the stolen cookie is of no use', async () => {
    await signedIn();
    const stolen = browser.cookies.get('__Host-session')!;
    expect((await browser.send('DELETE', '/v1/sessions/current')).status).toBe(200);
    expect(browser.cookies.has('__Host-session')).toBe(false);
    browser.cookies.set('__Host-session', stolen);
    expect([await current(), (await browser.send('GET', '/v1/orders')).status]).toEqual([401, 401]);
  });

  test('ends after 12 hours without a request, and after 7 days in any case', async () => {
    await signedIn();
    later(12 * HOUR);
    expect(await current()).toBe(401);
    await signedIn();
    for (let hours = 0; hours < 7 * 24 - 8; hours += 8) {
      later(8 * HOUR);
      expect(await current()).toBe(200);
    }
    later(8 * HOUR);
    expect(await current()).toBe(401);
    const { rows } = await gateway.pool.query('select id from gateway.sessions');
    expect(await deleteEndedSignIns(gateway.pool, clock)).toBeGreaterThanOrEqual(rows.length);
    expect((await gateway.pool.query('select id from gateway.sessions')).rows).toEqual([]);
  });

  test('ends when the user is disabled or deleted', async () => {
    const first = await signedIn('viewer');
    await gateway.pool.query('update gateway.users set disabled_at = $2 where id = $1', [first.id, clock]);
    expect(await current()).toBe(401);
    const second = await signedIn('viewer');
    await gateway.pool.query('delete from gateway.users where id = $1', [second.id]);
    expect(await current()).toBe(401);
  });

  test('a new role counts at once', async () => {
    const { id } = await signedIn('viewer');
    await gateway.pool.query(`update gateway.users set role = 'owner' where id = $1`, [id]);
    expect((await browser.send('GET', '/v1/api-keys')).status).toBe(200);
  });

  test('of a disabled merchant is refused', async () => {
    const other = await gateway.merchant();
    const { email } = await createTestUser(gateway, other.id, 'owner', clock);
    await browser.signIn(email);
    await setMerchantStatus(gateway.pool, other.id, { status: 'disabled', at: clock, by: 'Ana', reason: 'ticket 7' });
    expect((await browser.send('GET', '/v1/orders')).body).toMatchObject({
      statusCode: 403,
      code: 'merchant_disabled',
    });
  });

  test('an API key beside the cookie counts alone', async () => {
    await signedIn('viewer');
    const { status } = await browser.send('GET', '/v1/api-keys', undefined, { 'x-api-key': shop.key });
    expect(status).toBe(200);
    expect((await browser.send('GET', '/v1/orders', undefined, { 'x-api-key': 'wrong' })).status).toBe(401);
  });

  test('is no key for routes about the user, and a key is no session', async () => {
    expect((await shop.send('GET', '/v1/sessions/current')).status).toBe(401);
    expect((await shop.send('POST', '/v1/account/password', { password: PASSWORD })).status).toBe(401);
  });

  test('the others of a user are listed and ended', async () => {
    const { email } = await signedIn();
    const phone = openBrowser(gateway.app, { address: '203.0.113.9' });
    later(MINUTE);
    await phone.send('POST', '/v1/sessions', { email, password: PASSWORD }, { 'user-agent': 'Phone' });
    const { items } = (await browser.send('GET', '/v1/sessions')).body;
    expect(items).toMatchObject([
      { address: '203.0.113.9', user_agent: 'Phone', method: 'password', is_current: false },
      { address: '127.0.0.1', is_current: true },
    ]);
    expect((await browser.send('DELETE', `/v1/sessions/${items[0].id}`)).body).toEqual({
      id: items[0].id,
      deleted: true,
    });
    expect((await phone.send('GET', '/v1/sessions/current')).status).toBe(401);
    const other = await newUser();
    await phone.signIn(other.email);
    expect((await phone.send('DELETE', `/v1/sessions/${items[1].id}`)).status).toBe(404);
    expect(await current()).toBe(200);
  });
});

describe('a request of another site', () => {
  const change = (headers: Record<string, string>) =>
    browser.send('PATCH', '/v1/merchants/me', { order_defaults: {} }, headers);
  beforeEach(async () => {
    await browser.signIn((await newUser()).email);
  });

  test('is refused, with the right token too', async () => {
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }] as const)
      expect((await change(headers)).body).toMatchObject({ statusCode: 403, code: 'cross_site_request' });
  });

  test('is refused by its origin, where the browser says no more', async () => {
    const headers = { 'sec-fetch-site': '', host: 'pay.example.com' };
    const by = (origin: string) =>
      gateway.app.inject({
        method: 'PATCH',
        url: '/v1/merchants/me',
        headers: { origin, host: headers.host, 'x-csrf-token': browser.csrfToken()! },
        cookies: Object.fromEntries(browser.cookies),
        payload: { order_defaults: {} },
      });
    expect((await by('https://evil.example')).statusCode).toBe(403);
    expect((await by('http://pay.example.com')).statusCode).toBe(200);
  });

  test.each([
    ['no token', ''],
    ['another token', 'x'.repeat(43)],
  ])('with %s is refused', async (_, token) => {
    expect((await change({ 'x-csrf-token': token })).body).toMatchObject({ code: 'cross_site_request' });
  });

  test('cannot sign a browser in', async () => {
    const { email } = await newUser();
    const answer = await browser.send(
      'POST',
      '/v1/sessions',
      { email, password: PASSWORD },
      { 'sec-fetch-site': 'cross-site' },
    );
    expect(answer.body.code).toBe('cross_site_request');
  });
});

describe('a password', () => {
  const set = (password: string, current?: string) =>
    browser.send('POST', '/v1/account/password', { password, ...(current && { current_password: current }) });

  test('is replaced with the old one, and ends the other sessions and links', async () => {
    const user = await newUser();
    await browser.signIn(user.email);
    const other = openBrowser(gateway.app);
    await other.signIn(user.email);
    const link = await linkFor(user);
    expect((await set('a new and longer one', PASSWORD)).status).toBe(200);
    expect((await other.send('GET', '/v1/sessions/current')).status).toBe(401);
    expect((await other.signInByLink(link)).status).toBe(401);
    expect((await browser.send('GET', '/v1/sessions/current')).status).toBe(200);
    expect((await other.signIn(user.email)).status).toBe(401);
    expect((await other.signIn(user.email, 'a new and longer one')).status).toBe(201);
  });

  test('is not replaced without the old one, or with a wrong one, of which 10 are checked', async () => {
    const { email } = await newUser();
    await browser.signIn(email);
    expect((await set('a new and longer one')).body.message).toBe('current_password: is required');
    const answers = [];
    for (let n = 0; n < 12; n += 1) answers.push((await set('a new and longer one', 'wrong')).status);
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
  });

  test('is set within an hour after a link, and later with the old one', async () => {
    const user = await newUser();
    await browser.signInByLink(await linkFor(user));
    expect((await set('a new and longer one')).status).toBe(200);
    await browser.signInByLink(await linkFor(user));
    later(HOUR);
    expect((await set('yet another longer one')).body.message).toBe('current_password: is required');
  });

  test('is refused when it is easy to guess', async () => {
    await browser.signInByLink(await linkFor(await newUser()));
    expect((await set('short')).body.details).toEqual([
      { path: 'password', message: 'must have at least 12 characters: four words are easy to keep' },
    ]);
  });
});

describe('an authenticator app', () => {
  const codeOf = (secret: string, at = clock) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at.getTime() });
  const withApp = async () => {
    const user = await newUser();
    await browser.signIn(user.email);
    const { secret } = (await browser.send('POST', '/v1/account/totp')).body;
    const answer = await browser.send('POST', '/v1/account/totp/confirm', { code: codeOf(secret) });
    later(MINUTE);
    return { ...user, secret: secret as string, recovery: answer.body.recovery_codes as string[] };
  };

  test('is asked for once it is confirmed, with password and link', async () => {
    const user = await newUser();
    await browser.signIn(user.email);
    const { secret, uri } = (await browser.send('POST', '/v1/account/totp')).body;
    expect(uri).toContain(secret);
    expect((await browser.send('POST', '/v1/account/totp/confirm', { code: '000000' })).status).toBe(400);
    expect((await openBrowser(gateway.app).signIn(user.email)).status).toBe(201);
    const confirmed = await browser.send('POST', '/v1/account/totp/confirm', { code: codeOf(secret) });
    expect(confirmed.body.recovery_codes).toHaveLength(10);
    later(MINUTE);
    expect((await browser.signIn(user.email)).body).toMatchObject({ statusCode: 401, code: 'code_required' });
    const link = await linkFor(user);
    expect((await browser.signInByLink(link)).body.code).toBe('code_required');
    expect((await browser.signInByLink(link, codeOf(secret))).body.user).toMatchObject({ has_totp: true });
  });

  test('a code works once, also twice at the same time', async () => {
    const { email, secret } = await withApp();
    const code = codeOf(secret);
    const answers = await Promise.all([1, 2].map(() => openBrowser(gateway.app).signIn(email, PASSWORD, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401]);
    expect((await browser.signIn(email, PASSWORD, codeOf(secret, new Date(clock.getTime() - 30_000)))).status).toBe(
      401,
    );
    expect((await browser.signIn(email, PASSWORD, codeOf(secret, new Date(clock.getTime() + 30_000)))).status).toBe(
      201,
    );
  });

  test('a recovery code works once', async () => {
    const { email, recovery } = await withApp();
    expect((await browser.signIn(email, PASSWORD, recovery[3]!.toUpperCase())).status).toBe(201);
    expect((await browser.signIn(email, PASSWORD, recovery[3])).status).toBe(401);
    expect((await browser.signIn(email, PASSWORD, recovery[4])).status).toBe(201);
  });

  test('wrong codes count as attempts', async () => {
    const { email } = await withApp();
    const guess = openBrowser(gateway.app);
    const statuses = [];
    for (let n = 0; n < 12; n += 1) statuses.push((await guess.signIn(email, PASSWORD, `00000${n % 10}`)).status);
    expect(statuses.slice(-2)).toEqual([429, 429]);
  });

  test('asking for the code is no attempt', async () => {
    const { email } = await withApp();
    for (let n = 0; n < 12; n += 1) expect((await browser.signIn(email)).body.code).toBe('code_required');
  });

  test('is stored encrypted, and replaced and removed with a code alone', async () => {
    const { id, secret, recovery } = await withApp();
    const { rows } = await gateway.pool.query('select * from gateway.users where id = $1', [id]);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect((await browser.send('POST', '/v1/account/totp')).body).toMatchObject({
      statusCode: 409,
      code: 'totp_enabled',
    });
    expect((await browser.send('POST', '/v1/account/totp/remove', { code: '000000' })).status).toBe(400);
    expect((await browser.send('POST', '/v1/account/totp/remove', { code: recovery[0] })).body).toEqual({
      has_totp: false,
    });
    expect((await browser.send('POST', '/v1/account/totp')).status).toBe(201);
    // An app that was not confirmed is removed without an event: no sign-in needed its codes.
    expect((await browser.send('POST', '/v1/account/totp/remove', { code: '000000' })).status).toBe(200);
    const recorded = await gateway.pool.query(
      "select type from gateway.merchant_events where actor = 'user:' || subject and subject = $1 order by sequence",
      [(await browser.send('GET', '/v1/sessions/current')).body.user.id],
    );
    expect(recorded.rows).toEqual([{ type: 'TotpAdded' }, { type: 'TotpRemoved' }]);
  });
});

test('a user changes their name', async () => {
  await browser.signIn((await newUser('viewer')).email);
  await browser.send('PATCH', '/v1/account', { name: '<b>Ada</b>' });
  expect((await browser.send('GET', '/v1/sessions/current')).body.user.name).toBe('<b>Ada</b>');
});
