import { startAdmin, type TestAdmin } from '../testing/jest-admin.ts';

const HOUR = 3_600_000;

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
beforeEach(() => admin.reset());

test('prints a valid key once and lists it without its secret', async () => {
  const { id, key, kid } = await admin.createKey();
  expect(await admin.isValid(key)).toBe(true);
  const list = await admin.run('keys', 'list', id);
  expect(list).toContain(kid);
  expect(list).toContain('orders:self:create');
  expect(list).not.toContain(key.slice(20));
});

test('a key can be limited to addresses and expire', async () => {
  const { id, key } = await admin.createKey('--allow-ip', '10.0.0.0/8', '--expires', '2026-01-31T13:00:00Z');
  expect([await admin.isValid(key), await admin.isValid(key, '10.1.1.1')]).toEqual([false, true]);
  admin.clock = new Date(admin.clock.getTime() + HOUR);
  expect(await admin.isValid(key, '10.1.1.1')).toBe(false);
  expect(await admin.run('keys', 'list', id)).toMatch(/expired/);
});

test('after a rotation the old key is valid for the overlap, and the new key until the original expiry', async () => {
  const { id, key, kid } = await admin.createKey('--expires', '2026-01-31T18:00:00Z');
  const [newKey = ''] = (await admin.run('keys', 'rotate', kid, '--overlap', '2h')).split('\n');
  expect([await admin.isValid(key), await admin.isValid(newKey)]).toEqual([true, true]);
  expect(await admin.run('keys', 'list', id)).toMatch(/active +2 /);
  admin.clock = new Date(admin.clock.getTime() + 2 * HOUR);
  expect([await admin.isValid(key), await admin.isValid(newKey)]).toEqual([false, true]);
  admin.clock = new Date(admin.clock.getTime() + 4 * HOUR);
  expect(await admin.isValid(newKey)).toBe(false);
});

test('a revoked key is invalid and can be neither revoked nor rotated', async () => {
  const { key, kid } = await admin.createKey();
  expect(await admin.run('keys', 'revoke', kid)).toBe(`key ${kid} is revoked`);
  expect(await admin.isValid(key)).toBe(false);
  await expect(admin.run('keys', 'revoke', kid)).rejects.toThrow(/already revoked/);
  await expect(admin.run('keys', 'rotate', kid)).rejects.toThrow(/is revoked/);
});

test('a key can be rotated once; its successor can be rotated too', async () => {
  const { id, kid } = await admin.createKey();
  const rotations = await Promise.allSettled([1, 2].map(() => admin.run('keys', 'rotate', kid)));
  expect(rotations.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(admin.run('keys', 'rotate', kid)).rejects.toThrow(/was already rotated/);
  const successorKid = /^(\S{12}) .* 2 /m.exec(await admin.run('keys', 'list', id))![1]!;
  const [newKey = ''] = (await admin.run('keys', 'rotate', successorKid)).split('\n');
  admin.clock = new Date(admin.clock.getTime() + 48 * HOUR);
  expect(await admin.isValid(newKey)).toBe(true);
});

test('an expired key cannot be rotated', async () => {
  const { kid } = await admin.createKey('--expires', '2026-01-31T13:00:00Z');
  admin.clock = new Date(admin.clock.getTime() + HOUR);
  await expect(admin.run('keys', 'rotate', kid)).rejects.toThrow(/has expired/);
});

test('a key that is revoked during its rotation gets no successor', async () => {
  const { id, kid } = await admin.createKey();
  const revoke = await admin.begin("update gateway.api_keys set status = 'revoked' where kid = $1", kid);
  const rotation = admin.run('keys', 'rotate', kid);
  await admin.lockWaits(1);
  await revoke();
  await expect(rotation).rejects.toThrow(/is revoked/);
  expect(await admin.run('keys', 'list', id)).not.toMatch(/active/);
});

test('a key has a label, which its successor has too', async () => {
  const { id, kid } = await admin.createKey('--label', 'Shop backend');
  await admin.run('keys', 'rotate', kid);
  expect((await admin.run('keys', 'list', id)).match(/Shop backend/g)).toHaveLength(2);
  await admin.run('keys', 'update', kid, '--label', 'old shop');
  expect(await admin.run('keys', 'list', id)).toMatch(new RegExp(`^${kid} {2}old shop `, 'm'));
});

test('the scopes and the IP list of a key can be changed, one without the other', async () => {
  const { id, key, kid } = await admin.createKey('--label', 'shop');
  expect(await admin.run('keys', 'update', kid, '--allow-ip', '10.0.0.0/8')).toContain('works from 10.0.0.0/8');
  expect([await admin.isValid(key), await admin.isValid(key, '10.1.1.1')]).toEqual([false, true]);
  const changed = await admin.run('keys', 'update', kid, '--scopes', 'orders:self:read');
  expect(changed).toBe(`key ${kid} works from 10.0.0.0/8 with the scopes orders:self:read`);
  expect(await admin.run('keys', 'list', id)).toMatch(/ shop .* 10\.0\.0\.0\/8 +orders:self:read$/);
  await admin.run('keys', 'update', kid, '--allow-ip', 'anywhere');
  expect(await admin.isValid(key)).toBe(true);
});

test.each([
  [[], /nothing to change: give --scopes, --allow-ip or --label/],
  [['--scopes', 'orders'], /there is no scope orders/],
  [['--allow-ip', ' '], /--allow-ip needs at least one/],
  [['--label', ' '], /--label must have 1 to 100 characters/],
])('keys update %j changes nothing and says why', async (options, message) => {
  const { id, kid } = await admin.createKey();
  const before = await admin.run('keys', 'list', id);
  await expect(admin.run('keys', 'update', kid, ...options)).rejects.toThrow(message);
  expect(await admin.run('keys', 'list', id)).toBe(before);
});

test('a leaked key can be revoked by pasting it, and no message repeats it', async () => {
  const { key, kid } = await admin.createKey();
  expect(await admin.run('keys', 'revoke', key)).toBe(`key ${kid} is revoked`);
  await expect(admin.run('keys', 'update', key, '--label', 'x')).rejects.toThrow(`key ${kid} is revoked: create a new`);
});

test.each([
  [
    ['--scopes', 'orders:self:create,orders:burn'],
    /there is no scope orders:burn\. The scopes are:\n {2}merchant:self:read\n/,
  ],
  [['--scopes', ','], /no scope is given/],
  [['--scopes', 'all', '--allow-ip', '10.0.0.0/40'], /not an IP address/],
  [['--scopes', 'all', '--allow-ip', ''], /--allow-ip needs at least one/],
  [['--scopes', 'all', '--allow-ip', ' , '], /--allow-ip needs at least one/],
  [['--scopes', 'all', '--expires', '2026-01-31'], /needs a time and a timezone/],
  [['--scopes', 'all', '--expires', '2027-02-31T12:00:00Z'], /has a day that does not exist/],
  [['--scopes', 'all', '--expires', '2025-01-31T00:00:00Z'], /is in the past/],
])('keys create %j explains the error', async (options, message) => {
  const { id } = await admin.createMerchant();
  await expect(admin.run('keys', 'create', id, ...options)).rejects.toThrow(message);
});
