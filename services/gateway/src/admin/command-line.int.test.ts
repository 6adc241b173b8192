import { startAdmin, type TestAdmin } from '../testing/jest-admin.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
beforeEach(() => admin.reset());

test.each([
  [[], /Manage merchants and API keys/],
  [['keys', 'burn'], /Manage merchants and API keys/],
  [['keys', 'list'], /takes one argument: MERCHANT/],
  [['merchants', 'list', 'x'], /takes no argument/],
  [['merchants', 'create'], /--file is missing/],
  [['merchants', 'create', '--file', '/nowhere.json'], /cannot read/],
  [['keys', 'create', 'mer_1', '--scopes', 'all'], /there is no merchant mer_1/],
  [['keys', 'create', 'mer_1'], /--scopes is missing/],
  [['keys', 'list', 'mer_1'], /there is no merchant mer_1/],
  [['keys', 'revoke', 'abc'], /there is no key abc/],
  [['keys', 'rotate', 'abc'], /there is no key abc/],
  [['keys', 'rotate', 'abc', '--overlap', 'long'], /not a duration/],
  [['keys', 'list', '--colour', 'red'], /--colour/],
])('%j explains the error', async (args, message) => {
  await expect(admin.run(...args)).rejects.toThrow(message);
});
