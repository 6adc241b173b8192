import { allows, groupScopes } from './scopes.ts';

test('a button is there with its scope alone', () => {
  expect(allows(['orders:self:read'], 'readOrders')).toBe(true);
  expect(allows(['orders:self:read'], 'createOrders')).toBe(false);
  expect(allows([], 'overview')).toBe(false);
});

test('groups scopes by what they are about, unknown ones too', () =>
  expect([...groupScopes(['orders:self:read', 'payments:self:read', 'orders:self:create', 'everything'])]).toEqual([
    ['orders', ['orders:self:read', 'orders:self:create']],
    ['payments', ['payments:self:read']],
    ['everything', ['everything']],
  ]));
