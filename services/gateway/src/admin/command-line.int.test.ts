import { startAdmin, type TestAdmin } from '../testing/jest-admin.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
beforeEach(() => admin.reset());

test.each<[string[], RegExp]>([
  [['keys', 'burn'], /unknown command 'burn'/],
  [['keys', 'lists', 'mer_1'], /unknown command 'lists'[^]*Did you mean list\?/],
  [['keys'], /the command after 'keys' is missing/],
  [['keys', 'list'], /missing required argument 'merchant'/],
  [['merchants', 'list', 'x'], /too many arguments for 'list'/],
  [['merchants', 'create'], /required option '--file <file>' not specified/],
  [['merchants', 'create', '--file', '/nowhere.json'], /cannot read/],
  [['keys', 'create', 'mer_1', '--scopes', 'all'], /there is no merchant mer_1/],
  [['keys', 'create', 'mer_1'], /required option '--scopes <list>' not specified/],
  [['keys', 'list', 'mer_1'], /there is no merchant mer_1/],
  [['keys', 'revoke', 'abc'], /there is no key abc/],
  [['keys', 'rotate', 'abc'], /there is no key abc/],
  [['keys', 'rotate', 'abc', '--overlap', 'long'], /not a duration/],
  [['keys', 'list', 'mer_1', '--colour', 'red'], /unknown option '--colour'/],
])('%j explains the error', async (args, message) => {
  await expect(admin.run(...args)).rejects.toThrow(message);
});
