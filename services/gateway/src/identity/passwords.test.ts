import { hashPassword, passwordFault, verifyPassword } from './passwords.ts';

const WORDS = ['ada.byron', 'shop.example', 'Demo shop'];

test.each<[string, string | null]>([
  ['correct horse battery', null],
  ['ünïcödé päss wörd', null],
  ['elevenchars', 'must have at least 12 characters: four words are easy to keep'],
  ['a'.repeat(257), 'must have at most 256 characters'],
  ['aaaaaaaabbbb', 'must have at least 5 different characters'],
  ['Password1234', 'is in a list of passwords that attackers try first: choose another one'],
  ['Demo shop 12', 'is little more than your name, your email address or the name of the merchant: choose another one'],
  [
    'ADA.BYRON1815',
    'is little more than your name, your email address or the name of the merchant: choose another one',
  ],
  ['ada.byron sings at noon', null],
])('%s: %s', (password, fault) => {
  expect(passwordFault(password, WORDS)).toBe(fault);
});

test('characters are counted, not code units', () => {
  expect(passwordFault('🐎🔋📎🐎🔋📎', WORDS)).toContain('at least 12 characters');
});

test('the right password is verified, in each Unicode form', async () => {
  const hash = await hashPassword('caf\u00e9 au lait, please');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword('cafe\u0301 au lait, please', hash)).toBe(true);
  expect(await verifyPassword('cafe au lait, please', hash)).toBe(false);
});

test('without a hash every password is wrong', async () => {
  expect(await verifyPassword('correct horse battery', null)).toBe(false);
});

test('two hashes of a password differ', async () => {
  const [first, second] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')]);
  expect(first).not.toBe(second);
});
