import { Scope } from '../door/keys/api-key.ts';
import { mayGive, Role, ROLES } from './roles.ts';

test('owners and admins may do everything, and the others less', () => {
  expect(ROLES.owner.scopes).toEqual(Scope.options);
  expect(ROLES.admin.scopes).toEqual(Scope.options);
  for (const role of ['developer', 'support', 'viewer'] as const) {
    expect(ROLES[role].scopes.filter((scope) => scope.startsWith('users:'))).toEqual(['users:self:read']);
    expect(ROLES[role].scopes).toEqual(expect.arrayContaining([...ROLES.viewer.scopes]));
  }
  expect(ROLES.viewer.scopes.filter((scope) => !scope.endsWith(':read'))).toEqual([]);
  expect(ROLES.developer.scopes).not.toContain('payments:self:refund');
  expect(ROLES.support.scopes.filter((scope) => scope.startsWith('api-keys:'))).toEqual([]);
});

test.each<[Role, Role[]]>([
  ['owner', ['owner', 'admin', 'developer', 'support', 'viewer']],
  ['admin', ['admin', 'developer', 'support', 'viewer']],
  ['developer', ['developer', 'viewer']],
  ['support', ['support', 'viewer']],
  ['viewer', ['viewer']],
])('%s may give what it has: %j', (own, expected) => {
  const manager = { scopes: new Set<string>(ROLES[own].scopes), role: own };
  expect(Role.options.filter((role) => mayGive(manager, role))).toEqual(expected);
});

test('an API key makes no owner, and nobody who may do more than it', () => {
  const given = (scopes: readonly Scope[]) =>
    Role.options.filter((role) => mayGive({ scopes: new Set<string>(scopes), role: null }, role));
  expect(given(Scope.options)).toEqual(['admin', 'developer', 'support', 'viewer']);
  expect(given(ROLES.support.scopes)).toEqual(['support', 'viewer']);
  expect(given(['users:self:create'])).toEqual([]);
});
