import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { createTestUser, openBrowser } from '../../testing/jest-users.ts';

let gateway: TestGateway;
let shop: TestMerchant;
let clock = new Date('2026-01-31T12:00:00.000Z');
beforeAll(async () => {
  gateway = await startGateway({ now: () => clock });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  clock = new Date('2026-01-31T12:00:00.000Z');
  shop = await gateway.merchant();
});

const URL = '/v1/merchants/me/audit-log';
const read = (query: Record<string, string> | [string, string][] = {}, by = shop) =>
  by.send('GET', `${URL}?${new URLSearchParams(query)}`);
const typesOf = async (query: Record<string, string> | [string, string][] = {}) =>
  (await read(query)).body.items.map(({ type }: { type: string }) => type);

/** Changes a user, the defaults and a key, a minute apart. Returns the ids of user and key. */
const changeThings = async () => {
  const user = (await shop.send('POST', '/v1/users', { email: `${shop.id.toLowerCase()}@a.example`, role: 'viewer' }))
    .body.id;
  clock = new Date('2026-01-31T12:01:00.000Z');
  await shop.send('PATCH', `/v1/users/${user}`, { role: 'support', name: 'Ada' });
  clock = new Date('2026-01-31T12:02:00.000Z');
  await shop.send('PATCH', '/v1/merchants/me', { order_defaults: { payment_currency: 'USDC' } });
  return user as string;
};

test('a merchant without changes has no entries', async () => {
  expect((await read()).body).toMatchObject({ items: [], total: 0 });
});

test('lists who changed what, newest first', async () => {
  const user = await changeThings();
  const { items, total } = (await read()).body;
  expect(total).toBe(3);
  expect(items).toMatchObject([{ type: 'OrderDefaultsChanged' }, { type: 'UserChanged' }, { type: 'UserInvited' }]);
  expect(items[1]).toEqual({
    id: expect.stringMatching(/^evt_/),
    merchant_id: shop.id,
    type: 'UserChanged',
    subject: user,
    actor: `key:${shop.key.slice('ak_sandbox_'.length).slice(0, 12)}`,
    request_id: expect.stringMatching(/^req_/),
    changes: expect.arrayContaining([{ field: 'role', before: 'viewer', after: 'support' }, { field: 'name' }]),
    created_at: '2026-01-31T12:01:00.000Z',
  });
});

test('filters by type, subject, actor and time, and goes on by cursor', async () => {
  const user = await changeThings();
  expect(await typesOf({ type: 'UserInvited' })).toEqual(['UserInvited']);
  const several: [string, string][] = [
    ['type', 'UserInvited'],
    ['type', 'OrderDefaultsChanged'],
  ];
  expect(await typesOf(several)).toEqual(['OrderDefaultsChanged', 'UserInvited']);
  expect(await typesOf({ subject: user })).toEqual(['UserChanged', 'UserInvited']);
  expect(await typesOf({ subject: shop.id })).toEqual(['OrderDefaultsChanged']);
  expect(await typesOf({ actor: 'operator' })).toEqual([]);
  expect(await typesOf({ from_date: '2026-01-31T12:01:00Z', to_date: '2026-01-31T12:01:00Z' })).toEqual([
    'UserChanged',
  ]);
  const { next_cursor: cursor } = (await read({ subject: user, limit: '1' })).body;
  expect(await typesOf({ subject: user, limit: '1', cursor })).toEqual(['UserInvited']);
  expect((await read({ type: 'Painted' })).status).toBe(400);
});

test('another merchant sees nothing of it', async () => {
  await changeThings();
  expect((await read({}, await gateway.merchant())).body.total).toBe(0);
});

test.each([
  ['owner', 200],
  ['admin', 200],
  ['developer', 403],
  ['support', 403],
  ['viewer', 403],
] as const)('%s: %i', async (role, status) => {
  clock = new Date();
  const { email } = await createTestUser(gateway, shop.id, role);
  const browser = openBrowser(gateway.app);
  await browser.signIn(email);
  expect((await browser.send('GET', URL)).status).toBe(status);
});
