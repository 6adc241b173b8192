import { userByEmail } from '../identity/users.ts';
import { userOfLink } from '../identity/sign-in-links.ts';
import { startAdmin, type TestAdmin } from '../testing/jest-admin.ts';

let admin: TestAdmin;
let merchant: string;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
beforeEach(async () => {
  await admin.reset();
  merchant = (await admin.createMerchant()).id;
});

const create = (email: string, role = 'owner') =>
  admin.run('users', 'create', merchant, '--email', email, '--role', role);
const userIn = async (output: string) =>
  userOfLink(admin.pool, output.split('\n')[0]!.split('#link=')[1]!, admin.clock);

test('creates the first owner, and prints a link that signs them in', async () => {
  const output = await create('ada@shop.example');
  expect(output).toMatch(/^\/dashboard\/sign-in#link=[\w-]{43}\nPut the address of your gateway in front/);
  expect(await userIn(output)).toMatchObject({ email: 'ada@shop.example', role: 'owner', created_by: 'operator' });
  const list = await admin.run('users', 'list', merchant);
  expect(list).toMatch(/ada@shop\.example +owner +invited +no +never/);
});

test.each([
  [['--email', 'ada', '--role', 'owner'], '--email: ada is not an email address'],
  [['--email', 'ada@shop.example', '--role', 'boss'], '--role: there is no role boss'],
])('%j is refused: %s', async (options, message) => {
  await expect(admin.run('users', 'create', merchant, ...options)).rejects.toThrow(message);
});

test('an email address has one user, in any letters', async () => {
  await create('ada@shop.example');
  await expect(create('Ada@Shop.example')).rejects.toThrow('exists: use another address');
});

test('a merchant that does not exist has no users', async () => {
  await expect(admin.run('users', 'list', 'mer_x')).rejects.toThrow('there is no merchant mer_x');
  expect(await admin.run('users', 'list', merchant)).toContain('has no users');
});

test('a link is made again, and removes the authenticator app on demand', async () => {
  const first = await create('ada@shop.example');
  await admin.pool.query(`update gateway.users set totp_box = 'x', totp_confirmed_at = now()`);
  const second = await admin.run('users', 'link', 'ada@shop.example');
  expect(await userIn(first)).toBeNull();
  expect(await userIn(second)).toMatchObject({ totp_box: 'x' });
  await admin.run('users', 'link', 'ada@shop.example', '--remove-totp');
  expect(await userByEmail(admin.pool, 'ada@shop.example')).toMatchObject({ totp_box: null, totp_confirmed_at: null });
  await expect(admin.run('users', 'link', 'eve@shop.example')).rejects.toThrow('there is no user eve@shop.example');
});

test('a user is disabled and enabled, but the last owner is not', async () => {
  await create('ada@shop.example');
  await expect(admin.run('users', 'disable', 'ada@shop.example')).rejects.toThrow('the last owner');
  await create('eve@shop.example', 'viewer');
  expect(await admin.run('users', 'disable', 'eve@shop.example')).toBe('user eve@shop.example is disabled');
  expect(await admin.run('users', 'list', merchant)).toMatch(/eve@shop\.example +viewer +disabled/);
  await expect(admin.run('users', 'link', 'eve@shop.example')).rejects.toThrow('the user is disabled');
  await admin.run('users', 'enable', 'eve@shop.example');
  expect(await userByEmail(admin.pool, 'eve@shop.example')).toMatchObject({ disabled_at: null });
});
