import { createAuthenticator, type Lies, type TestAuthenticator } from '../../testing/jest-authenticator.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { createTestUser, openBrowser, type TestBrowser, type TestUser } from '../../testing/jest-users.ts';
import { deleteEndedSignIns } from '../../identity/sessions.ts';
import { makeSignInLink, pathOfLink } from '../../identity/sign-in-links.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const HOST = { host: 'pay.example.com', 'x-forwarded-proto': 'https' };
const ORIGIN = 'https://pay.example.com';
/** An authenticated encryption that a client could try to make. */
const FOREIGN_CHALLENGE = Buffer.from('v2.00000000.AAAA').toString('base64url');

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

type Method = Parameters<TestBrowser['send']>[0];
const send = (from: TestBrowser, method: Method, path: string, body?: object) => from.send(method, path, body, HOST);

const signedIn = async (from = browser): Promise<TestUser> => {
  const user = await createTestUser(gateway, shop.id, 'owner', clock);
  await from.signIn(user.email);
  return user;
};
const add = async (key: TestAuthenticator, lies: Lies = {}, from = browser) => {
  const options = await send(from, 'POST', '/v1/account/passkeys/options');
  expect(options.status).toBe(200);
  return send(from, 'POST', '/v1/account/passkeys', { name: 'Phone', response: key.create(options.body, lies) });
};
/** A user with a passkey. */
const withPasskey = async (from = browser) => {
  const user = await signedIn(from);
  const key = createAuthenticator(ORIGIN);
  const { body } = await add(key, {}, from);
  return { ...user, key, passkeyId: body.id as string };
};
const optionsOf = async (from = openBrowser(gateway.app)) =>
  (await send(from, 'POST', '/v1/sessions/passkey-options')).body;
const signInWith = async (key: TestAuthenticator, lies: Lies = {}, from = openBrowser(gateway.app)) =>
  send(from, 'POST', '/v1/sessions', { passkey: key.get(await optionsOf(from), lies) });
const REFUSED = { statusCode: 401, code: 'sign_in_failed' };

describe('a passkey', () => {
  test('is added to an account, listed with its last use, and deleted', async () => {
    await signedIn();
    const key = createAuthenticator(ORIGIN);
    const { status, body } = await add(key);
    expect([status, body]).toEqual([
      201,
      { id: expect.stringMatching(/^pky_/), name: 'Phone', is_backed_up: true, created_at: clock.toISOString() },
    ]);
    later(MINUTE);
    expect((await signInWith(key)).status).toBe(201);
    const listed = await send(browser, 'GET', '/v1/account/passkeys');
    expect(listed.body).toEqual({ items: [{ ...body, last_used_at: clock.toISOString() }] });
    const path = `/v1/account/passkeys/${body.id}`;
    expect((await send(browser, 'DELETE', path)).body).toEqual({ id: body.id, deleted: true });
    expect((await send(browser, 'DELETE', path)).status).toBe(404);
    expect((await signInWith(key)).body).toMatchObject(REFUSED);
    const { rows } = await gateway.pool.query(
      "select type, data -> 'changes' as changes from gateway.merchant_events where data::text like $1 order by sequence",
      [`%${body.id}%`],
    );
    expect(rows).toEqual([
      { type: 'PasskeyAdded', changes: { passkey: { before: null, after: body.id } } },
      { type: 'PasskeyRemoved', changes: { passkey: { before: body.id, after: null } } },
    ]);
  });

  test('signs in without an email address, and without a code', async () => {
    const { id, key } = await withPasskey();
    await gateway.pool.query('update gateway.users set totp_confirmed_at = $2 where id = $1', [id, clock]);
    const other = openBrowser(gateway.app);
    const { status, body } = await signInWith(key, {}, other);
    expect([status, body.user.id]).toEqual([201, id]);
    expect((await other.send('GET', '/v1/sessions')).body.items[0]).toMatchObject({ method: 'passkey' });
  });

  test('must be discoverable and verify its user; the options name no user', async () => {
    const { email, key } = await withPasskey();
    const creation = (await send(browser, 'POST', '/v1/account/passkeys/options')).body;
    expect(creation).toMatchObject({
      rp: { id: 'pay.example.com', name: 'Ada Byron' },
      user: { name: email },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [{ id: key.credentialId, transports: ['internal'] }],
    });
    expect(await optionsOf()).toEqual({
      ...{ rpId: 'pay.example.com', userVerification: 'required', timeout: 5 * MINUTE },
      challenge: expect.any(String),
    });
  });

  test('is the one that the user sees: another user can neither list nor delete it', async () => {
    const { passkeyId, key } = await withPasskey();
    await signedIn();
    expect((await send(browser, 'GET', '/v1/account/passkeys')).body).toEqual({ items: [] });
    expect((await send(browser, 'DELETE', `/v1/account/passkeys/${passkeyId}`)).status).toBe(404);
    expect((await signInWith(key)).status).toBe(201);
  });

  test('ends the session that the browser had', async () => {
    const { key } = await withPasskey();
    const before = browser.cookies.get('__Host-session')!;
    await signInWith(key, {}, browser);
    browser.cookies.set('__Host-session', before);
    expect((await browser.send('GET', '/v1/sessions/current')).status).toBe(401);
  });

  test('leaves the attempts with passwords counted', async () => {
    const { email, key } = await withPasskey();
    for (let n = 0; n < 10; n += 1) await openBrowser(gateway.app).signIn(email, 'wrong horse battery');
    expect((await signInWith(key)).status).toBe(201);
    expect((await openBrowser(gateway.app).signIn(email)).status).toBe(429);
  });
});

describe('a sign-in with a passkey is refused', () => {
  test.each<[string, Lies]>([
    ['from a page of another origin', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'https://pay.example.com:8443' }],
    ['over plain http', { origin: 'http://pay.example.com' }],
    ['for another site', { rpId: 'evil.example' }],
    ['without the verification of the user', { userVerified: false }],
    ['with the counter of its last use', { counter: 1 }],
    ['with a counter that went back', { counter: 0 }],
    ['for another user', { userHandle: 'usr_01KG9Q0C3D4E5F6G7H8J9K0M1N' }],
    ['with a challenge that nobody made', { challenge: FOREIGN_CHALLENGE }],
  ])('%s', async (_, lies) => {
    const { key } = await withPasskey();
    expect((await signInWith(key, lies)).body).toMatchObject(REFUSED);
    expect((await signInWith(key)).status).toBe(201);
  });

  test('with the challenge of another ceremony', async () => {
    const { key } = await withPasskey();
    const { challenge } = (await send(browser, 'POST', '/v1/account/passkeys/options')).body;
    expect((await signInWith(key, { challenge })).body).toMatchObject(REFUSED);
  });

  test('when the answer was used, also twice at the same time', async () => {
    const { key } = await withPasskey();
    const passkey = key.get(await optionsOf());
    const answers = await Promise.all(
      [1, 2, 3].map(() => send(openBrowser(gateway.app), 'POST', '/v1/sessions', { passkey })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401]);
    expect((await send(browser, 'POST', '/v1/sessions', { passkey })).body).toMatchObject(REFUSED);
  });

  test('when the challenge was answered, of an authenticator that does not count', async () => {
    const { key } = await withPasskey();
    await gateway.pool.query('update gateway.passkeys set counter = 0');
    const options = await optionsOf();
    const answers = [];
    for (const passkey of [key.get(options, { counter: 0 }), key.get(options, { counter: 0 })])
      answers.push((await send(openBrowser(gateway.app), 'POST', '/v1/sessions', { passkey })).status);
    expect(answers).toEqual([201, 401]);
    expect((await signInWith(key, { counter: 0 })).status).toBe(201);
  });

  test('after 5 minutes', async () => {
    const { key } = await withPasskey();
    const [early, late] = [key.get(await optionsOf()), key.get(await optionsOf())];
    later(5 * MINUTE - 1);
    expect((await send(browser, 'POST', '/v1/sessions', { passkey: early })).status).toBe(201);
    later(1);
    expect((await send(browser, 'POST', '/v1/sessions', { passkey: late })).body).toMatchObject(REFUSED);
    expect(await deleteEndedSignIns(gateway.pool, new Date(clock.getTime() + 5 * MINUTE))).toBeGreaterThan(0);
    expect((await gateway.pool.query('select from gateway.used_challenges')).rowCount).toBe(0);
  });

  test('of a disabled and of a deleted user', async () => {
    const { id, key } = await withPasskey();
    const passkey = key.get(await optionsOf());
    await gateway.pool.query('update gateway.users set disabled_at = $2 where id = $1', [id, clock]);
    expect((await send(browser, 'POST', '/v1/sessions', { passkey })).body).toMatchObject(REFUSED);
    await gateway.pool.query('delete from gateway.users where id = $1', [id]);
    expect((await signInWith(key)).body).toMatchObject(REFUSED);
  });

  test('when another key signed', async () => {
    const { key, id } = await withPasskey();
    const thief = createAuthenticator(ORIGIN);
    const { response } = thief.get(await optionsOf(), { userHandle: id, counter: 9 });
    const passkey = { ...key.get(await optionsOf()), response };
    expect((await send(browser, 'POST', '/v1/sessions', { passkey })).body).toMatchObject(REFUSED);
  });

  test('when the host differs from that of the page', async () => {
    const { key } = await withPasskey();
    const passkey = key.get(await optionsOf());
    const headers = { ...HOST, host: 'evil.example' };
    expect((await browser.send('POST', '/v1/sessions', { passkey }, headers)).body).toMatchObject(REFUSED);
  });

  test('from a page of another site', async () => {
    const { key } = await withPasskey();
    const foreign = { ...HOST, 'sec-fetch-site': 'cross-site' };
    expect((await browser.send('POST', '/v1/sessions/passkey-options', {}, foreign)).status).toBe(403);
    const passkey = key.get(await optionsOf());
    expect((await browser.send('POST', '/v1/sessions', { passkey }, foreign)).status).toBe(403);
  });

  test('too often for one network', async () => {
    const strict = await startGateway({ now: () => clock, failuresPerMinute: 3 });
    const key = createAuthenticator(ORIGIN);
    const guess = openBrowser(strict.app);
    const passkey = key.get({ challenge: FOREIGN_CHALLENGE, rpId: 'pay.example.com' }, { userHandle: 'usr_1' });
    const statuses = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await send(guess, 'POST', '/v1/sessions', { passkey })).status);
    await strict.close();
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });
});

describe('a new passkey is refused', () => {
  test.each<[string, Lies]>([
    ['from a page of another origin', { origin: 'https://evil.example' }],
    ['for another site', { rpId: 'evil.example' }],
    ['without the verification of the user', { userVerified: false }],
    ['with certificates, whose servers the gateway would call', { certificates: true }],
    ['with a challenge that nobody made', { challenge: FOREIGN_CHALLENGE }],
  ])('%s', async (_, lies) => {
    await signedIn();
    const { status, body } = await add(createAuthenticator(ORIGIN), lies);
    expect([status, body.message]).toEqual([400, 'response: is not valid: start again']);
  });

  test('with a challenge of another user, and with one that was answered', async () => {
    const first = openBrowser(gateway.app);
    await signedIn(first);
    const options = (await send(first, 'POST', '/v1/account/passkeys/options')).body;
    await signedIn();
    const register = (from: TestBrowser) => {
      const response = createAuthenticator(ORIGIN).create(options);
      return send(from, 'POST', '/v1/account/passkeys', { name: 'Phone', response });
    };
    expect((await register(browser)).status).toBe(400);
    expect((await register(first)).status).toBe(201);
    expect((await register(first)).status).toBe(400);
  });

  test('when a user has it already', async () => {
    const { key } = await withPasskey();
    expect((await add(key)).body.message).toBe('response: is of a passkey that was added before');
    await signedIn();
    expect((await add(key)).status).toBe(400);
  });

  test('an hour after the sign-in, and without a session', async () => {
    await signedIn();
    const options = (await send(browser, 'POST', '/v1/account/passkeys/options')).body;
    later(HOUR);
    const response = createAuthenticator(ORIGIN).create(options);
    for (const [path, body] of [
      ['/v1/account/passkeys/options', undefined],
      ['/v1/account/passkeys', { name: 'Phone', response }],
    ] as const) {
      expect((await send(browser, 'POST', path, body)).body).toMatchObject({ statusCode: 403, code: 'sign_in_again' });
      expect((await send(openBrowser(gateway.app), 'POST', path, body)).status).toBe(401);
    }
  });

  test('beyond 20', async () => {
    await signedIn();
    for (let n = 0; n < 20; n += 1) expect((await add(createAuthenticator(ORIGIN))).status).toBe(201);
    expect((await send(browser, 'POST', '/v1/account/passkeys/options')).body.code).toBe('too_many_passkeys');
  });
});

test('a user who came by a link adds a passkey and needs no password', async () => {
  const user = await createTestUser(gateway, shop.id, 'viewer', clock);
  await browser.signInByLink(pathOfLink(await makeSignInLink(gateway.pool, user.id, { by: 'tests', at: clock })));
  const key = createAuthenticator(ORIGIN);
  expect((await add(key)).status).toBe(201);
  expect((await signInWith(key)).body.user.id).toBe(user.id);
});
