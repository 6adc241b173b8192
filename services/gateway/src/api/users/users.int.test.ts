import { Role, ROLES } from '../../identity/roles.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { createTestUser, openBrowser, type TestBrowser } from '../../testing/jest-users.ts';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
});

let count = 0;
const email = () => `user-${(count += 1)}@shop.example`;
const signedIn = async (role: Role): Promise<TestBrowser & { id: string }> => {
  const user = await createTestUser(gateway, shop.id, role);
  const browser = openBrowser(gateway.app);
  await browser.signIn(user.email);
  return { ...browser, id: user.id };
};
const create = async (role: Role, send: Pick<TestBrowser, 'send'>['send'] | TestMerchant['send'] = shop.send) =>
  send('POST', '/v1/users', { email: email(), name: 'Ada Byron', role });

test('an invited user signs in by the link, and is active from then on', async () => {
  const owner = await signedIn('owner');
  const { status, body, headers } = await create('support', owner.send);
  expect(status).toBe(201);
  expect(headers.location).toBe(`/v1/users/${body.id}`);
  const { sign_in_link: link, ...user } = body;
  expect(link).toMatch(/^http:\/\/localhost(:\d+)?\/dashboard\/sign-in#link=[\w-]{43}$/);
  expect(user).toMatchObject({ merchant_id: shop.id, name: 'Ada Byron', role: 'support', status: 'invited' });
  expect((await owner.send('GET', `/v1/users/${user.id}`)).body).toEqual(user);
  expect((await openBrowser(gateway.app).signInByLink(link)).status).toBe(201);
  const { items } = (await owner.send('GET', '/v1/users?sort=asc')).body;
  expect(items).toMatchObject([
    { role: 'owner', status: 'active' },
    { id: user.id, status: 'active' },
  ]);
  expect(items[1]).toHaveProperty('last_signed_in_at');
});

test('a repeat with its Idempotency-Key is the same user, with the same link', async () => {
  const body = { email: email(), role: 'viewer' };
  const answers = [];
  for (let n = 0; n < 2; n += 1)
    answers.push((await shop.send('POST', '/v1/users', body, { 'idempotency-key': 'invite' })).body);
  expect(answers[1]).toEqual(answers[0]);
  const { rows } = await gateway.pool.query('select answer from gateway.idempotency_keys where merchant_id = $1', [
    shop.id,
  ]);
  expect(rows[0].answer).not.toContain('link=');
});

test('an email address belongs to one user of the gateway', async () => {
  const { body } = await create('viewer');
  const again = { email: body.email.toUpperCase(), role: 'viewer' };
  for (const merchant of [shop, await gateway.merchant()])
    expect((await merchant.send('POST', '/v1/users', again)).body).toMatchObject({
      statusCode: 409,
      code: 'email_taken',
    });
});

describe.each(Role.options)('%s', (own) => {
  test.each(Role.options)('and a user who is %s', async (other) => {
    const browser = await signedIn(own);
    const { id } = await createTestUser(gateway, shop.id, other);
    const manages = own === 'owner' || (own === 'admin' && other !== 'owner');
    const statuses = [
      (await browser.send('GET', `/v1/users/${id}`)).status,
      (await create(other, browser.send)).status,
      (await browser.send('POST', `/v1/users/${id}/sign-in-links`, {})).status,
      (await browser.send('PATCH', `/v1/users/${id}`, { role: 'viewer' })).status,
      (await browser.send('DELETE', `/v1/users/${id}`)).status,
    ];
    const expected = manages ? [200, 201, 201, 200, 200] : [200, 403, 403, 403, 403];
    expect(statuses).toEqual(expected);
  });
});

test('nobody makes themselves, or another one, more than they are', async () => {
  const admin = await signedIn('admin');
  const { id } = (await create('viewer')).body;
  for (const each of [admin.id, id])
    expect((await admin.send('PATCH', `/v1/users/${each}`, { role: 'owner' })).body).toMatchObject({
      statusCode: 403,
      code: 'permission_exceeded',
      details: [{ path: 'role', message: 'only an owner manages owners' }],
    });
  const weak = await shop.issue({ scopes: ['users:self:update', 'users:self:read'] });
  const answer = await shop.send('POST', `/v1/users/${id}/sign-in-links`, {}, { 'x-api-key': weak });
  expect([answer.status, answer.body.code]).toEqual([403, 'permission_exceeded']);
});

test('a disabled user is signed out at once, and enabled again', async () => {
  const owner = await signedIn('owner');
  const support = await signedIn('support');
  expect((await owner.send('PATCH', `/v1/users/${support.id}`, { status: 'disabled' })).body.status).toBe('disabled');
  expect((await support.send('GET', '/v1/orders')).status).toBe(401);
  expect((await owner.send('POST', `/v1/users/${support.id}/sign-in-links`, {})).body.code).toBe('user_disabled');
  await owner.send('PATCH', `/v1/users/${support.id}`, { status: 'active', name: null });
  const { sign_in_link: link } = (await owner.send('POST', `/v1/users/${support.id}/sign-in-links`, {})).body;
  expect((await support.signInByLink(link)).status).toBe(201);
});

test('the last owner stays one, also when two leave at once', async () => {
  const [first, second] = [await signedIn('owner'), await signedIn('owner')];
  const answers = await Promise.all(
    [first, second].map(({ send, id }) => send('PATCH', `/v1/users/${id}`, { role: 'admin' })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const last = answers[0]!.status === 409 ? first : second;
  for (const answer of [
    await last.send('PATCH', `/v1/users/${last.id}`, { status: 'disabled' }),
    await last.send('DELETE', `/v1/users/${last.id}`),
  ])
    expect(answer.body).toMatchObject({ statusCode: 409, code: 'last_owner' });
  expect((await last.send('PATCH', `/v1/users/${last.id}`, { name: 'Ada' })).status).toBe(200);
});

test('a lost authenticator app is removed with the link', async () => {
  const { id } = (await create('viewer')).body;
  await gateway.pool.query(`update gateway.users set totp_box = 'x', totp_confirmed_at = now() where id = $1`, [id]);
  await shop.send('POST', `/v1/users/${id}/sign-in-links`, {});
  expect((await shop.send('GET', `/v1/users/${id}`)).body.has_totp).toBe(true);
  await shop.send('POST', `/v1/users/${id}/sign-in-links`, { remove_totp: true });
  expect((await shop.send('GET', `/v1/users/${id}`)).body.has_totp).toBe(false);
});

test('users of another merchant are not found, and not listed', async () => {
  const { id } = (await create('viewer')).body;
  const other = await gateway.merchant();
  const answers = [
    await other.send('GET', `/v1/users/${id}`),
    await other.send('PATCH', `/v1/users/${id}`, { role: 'viewer' }),
    await other.send('POST', `/v1/users/${id}/sign-in-links`, {}),
    await other.send('DELETE', `/v1/users/${id}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect((await other.send('GET', '/v1/users')).body).toMatchObject({ total: 0 });
});

test('the roles are listed with what they may do', async () => {
  const { items } = (await shop.send('GET', '/v1/roles')).body;
  expect(items).toEqual(Role.options.map((role) => ({ role, ...ROLES[role] })));
});

test('a user makes API keys that may do no more than the role', async () => {
  const developer = await signedIn('developer');
  const make = (scopes: string[]) => developer.send('POST', '/v1/api-keys', { scopes });
  expect((await make(['orders:self:create'])).body).toMatchObject({ status: 'active', allowed_ips: [] });
  expect((await make(['payments:self:refund'])).body.code).toBe('permission_exceeded');
});

test.each<[object, string]>([
  [{ role: 'viewer' }, 'email: is required'],
  [{ email: 'ada', role: 'viewer' }, 'email: must be an email address'],
  [{ email: 'ada@shop.example', role: 'boss' }, 'role: must be one of'],
  [{ email: 'ada@shop.example', role: 'viewer', password: 'x' }, 'password: is not a known field'],
])('%j is refused: %s', async (body, message) => {
  const answer = await shop.send('POST', '/v1/users', body);
  expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(message)]);
});
