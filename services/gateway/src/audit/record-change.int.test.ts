import { derivedId, MerchantEvent } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import { transaction } from '@cpg/platform/postgres';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { createTestUser, openBrowser, PASSWORD } from '../testing/jest-users.ts';
import { recordChange } from './record-change.ts';

const AT = new Date('2026-01-31T12:00:00.000Z');

let gateway: TestGateway;
let shop: TestMerchant;
let actor: string;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  actor = `key:${shop.key.slice('ak_sandbox_'.length).slice(0, 12)}`;
});

interface Row {
  readonly id: string;
  readonly type: string;
  readonly actor: string;
  readonly request_id: string | null;
  readonly subject: string;
  readonly data: { readonly changes: object; readonly reason?: string };
}
const rowsOf = async (): Promise<Row[]> => {
  const { rows } = await gateway.pool.query<Row & { sequence: number }>(
    'select * from gateway.merchant_events where merchant_id = $1 order by sequence',
    [shop.id],
  );
  expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, index) => index));
  for (const { type, data } of rows) MerchantEvent.parse({ type, data });
  return rows;
};
const recorded = async () => (await rowsOf()).map(({ type, subject, data }) => [type, subject, data.changes]);

test('keys: created, changed, rotated, revoked', async () => {
  const spec = { scopes: ['orders:self:read'], label: 'Reports' };
  const { id, prefix } = (await shop.send('POST', '/v1/api-keys', spec)).body;
  await shop.send('PATCH', `/v1/api-keys/${id}`, { label: 'Books', allowed_ips: ['127.0.0.1'] });
  await shop.send('PATCH', `/v1/api-keys/${id}`, { label: 'Books' });
  const next = (await shop.send('POST', `/v1/api-keys/${id}/rotate`, { overlap_seconds: 60 })).body;
  for (let repeat = 0; repeat < 2; repeat += 1) await shop.send('POST', `/v1/api-keys/${id}/revoke`);
  const created = { label: 'Reports', scopes: ['orders:self:read'], allowed_ips: [] };
  const isNew = (fields: object) =>
    Object.fromEntries(Object.entries(fields).map(([name, after]) => [name, { before: null, after }]));
  expect(await recorded()).toEqual([
    ['ApiKeyCreated', id, isNew({ ...created, prefix })],
    [
      'ApiKeyChanged',
      id,
      { label: { before: 'Reports', after: 'Books' }, allowed_ips: { before: [], after: ['127.0.0.1'] } },
    ],
    ['ApiKeyCreated', next.id, isNew({ ...created, label: 'Books', allowed_ips: ['127.0.0.1'], prefix: next.prefix })],
    ['ApiKeyRotated', id, isNew({ successor: next.id, expires_at: expect.any(String) })],
    ['ApiKeyRevoked', id, {}],
  ]);
  expect(await rowsOf()).toEqual(
    expect.arrayContaining([expect.objectContaining({ actor, request_id: expect.stringMatching(/^req_/) })]),
  );
});

test('users: invited, changed, given a link, deleted; no name and no address', async () => {
  const { id } = (await shop.send('POST', '/v1/users', { email: 'ada@books.example', name: 'Ada', role: 'support' }))
    .body;
  await shop.send('PATCH', `/v1/users/${id}`, { name: 'Eve', role: 'viewer', status: 'disabled' });
  await shop.send('PATCH', `/v1/users/${id}`, { status: 'active' });
  await shop.send('POST', `/v1/users/${id}/sign-in-links`, {});
  await shop.send('DELETE', `/v1/users/${id}`);
  expect(await recorded()).toEqual([
    ['UserInvited', id, { email: {}, name: {}, role: { before: null, after: 'support' } }],
    [
      'UserChanged',
      id,
      { name: {}, role: { before: 'support', after: 'viewer' }, status: { before: 'active', after: 'disabled' } },
    ],
    ['UserChanged', id, { status: { before: 'disabled', after: 'active' } }],
    ['SignInLinkCreated', id, {}],
    ['UserDeleted', id, { role: { before: 'viewer', after: null } }],
  ]);
  expect(JSON.stringify(await rowsOf())).not.toMatch(/Ada|Eve|books\.example|link=/);
});

test('what users change of themselves has them as actor', async () => {
  const user = await createTestUser(gateway, shop.id, 'viewer');
  const browser = openBrowser(gateway.app);
  await browser.signIn(user.email);
  expect((await browser.send('PATCH', '/v1/account', { name: 'Ada' })).status).toBe(200);
  const password = { password: 'another horse battery', current_password: PASSWORD };
  expect((await browser.send('POST', '/v1/account/password', password)).status).toBe(200);
  const rows = await rowsOf();
  expect(rows.map(({ type, actor: by, subject }) => [type, by, subject])).toEqual([
    ['UserChanged', `user:${user.id}`, user.id],
    ['PasswordChanged', `user:${user.id}`, user.id],
  ]);
});

test('webhooks: created, changed, rotated, disabled, deleted; no path and no secret', async () => {
  const url = 'https://shop.example:8443/hooks/T0K3N?a=b';
  const { id, secret } = (await shop.send('POST', '/v1/webhooks', { url, events: ['order:paid'] })).body;
  await shop.send('PATCH', `/v1/webhooks/${id}`, { is_enabled: true, filter: { shop: 'b2c' } });
  await shop.send('POST', `/v1/webhooks/${id}/rotate-secret`);
  const disable = [[id], [`evt_${newUlid()}`], 'gone', AT.toISOString()];
  for (let repeat = 0; repeat < 2; repeat += 1)
    await gateway.pool.query('select gateway.disable_webhooks($1, $2, $3, $4)', disable);
  await shop.send('DELETE', `/v1/webhooks/${id}`);
  await shop.send('DELETE', `/v1/webhooks/${id}`);
  expect(await recorded()).toEqual([
    [
      'WebhookCreated',
      id,
      { origin: { before: null, after: 'https://shop.example:8443' }, events: { before: null, after: ['order:paid'] } },
    ],
    [
      'WebhookChanged',
      id,
      { is_enabled: { before: false, after: true }, filter: { before: null, after: { shop: 'b2c' } } },
    ],
    ['WebhookSecretRotated', id, {}],
    ['WebhookDisabled', id, {}],
    ['WebhookDeleted', id, {}],
  ]);
  const text = JSON.stringify(await rowsOf());
  expect(text).not.toContain('T0K3N');
  expect(text).not.toContain(secret);
  expect((await rowsOf())[3]).toMatchObject({ actor: 'service:webhook-dispatcher', data: { reason: 'gone' } });
});

test('the merchant: defaults of orders and the look of the payment page', async () => {
  const defaults = { enable_rails: ['gateway_pay'], payment_currency: 'USDC' };
  for (let repeat = 0; repeat < 2; repeat += 1)
    await shop.send('PATCH', '/v1/merchants/me', { order_defaults: defaults });
  await shop.send('PUT', '/v1/merchants/me/payment-page', { display_name: 'Café', accent_color: '#AA0000' });
  await shop.send('PUT', '/v1/merchants/me/payment-page', { display_name: 'Café', accent_color: '#aa0000' });
  expect(await recorded()).toEqual([
    [
      'OrderDefaultsChanged',
      shop.id,
      { enable_rails: { before: null, after: ['gateway_pay'] }, payment_currency: { before: null, after: 'USDC' } },
    ],
    [
      'PaymentPageChanged',
      shop.id,
      { display_name: { before: 'Ada Byron', after: 'Café' }, accent_color: { before: null, after: '#aa0000' } },
    ],
  ]);
});

test('a change that is refused records nothing', async () => {
  const { status } = await shop.send('PATCH', '/v1/merchants/me', { order_defaults: { payment_currency: 'ETH' } });
  expect(status).toBe(400);
  expect(await recorded()).toEqual([]);
});

const record = (subject: string, seed?: string) =>
  transaction(gateway.pool, (db) =>
    recordChange(db, { type: 'WebhookDeleted', merchantId: shop.id, subject }, { by: 'key:tests', at: AT, seed }),
  );

test('a repeat of a request records nothing more', async () => {
  const seed = newUlid();
  for (let repeat = 0; repeat < 2; repeat += 1) await record('whk_1', seed);
  await record('whk_2', seed);
  expect((await rowsOf()).map(({ id, subject }) => [id, subject])).toEqual(
    ['whk_1', 'whk_2'].map((subject) => [derivedId('event', `${seed} WebhookDeleted ${subject}`), subject]),
  );
});

test('changes of one merchant at once are numbered without a gap', async () => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => record(`whk_${index}`)));
  expect(await rowsOf()).toHaveLength(20);
});

test('an event with a field that its type does not show is refused, and the change with it', async () => {
  const changes = { secret: { before: null, after: 'x' } };
  const refused = transaction(gateway.pool, async (db) => {
    await db.query(`update gateway.merchants set metadata = '{"a": 1}' where id = $1`, [shop.id]);
    await recordChange(
      db,
      { type: 'WebhookChanged', merchantId: shop.id, subject: 'whk_1', changes },
      { by: 'key:tests', at: AT },
    );
  });
  await expect(refused).rejects.toThrow('may have no other fields than');
  expect(await rowsOf()).toEqual([]);
});
