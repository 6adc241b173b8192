import fc from 'fast-check';
import type { Scope } from '../../door/keys/api-key.ts';
import { excessOf, type Permissions } from './permissions.ts';

const [NOON, EVENING] = ['2026-01-31T12:00:00.000Z', '2026-01-31T18:00:00.000Z'].map((text) => new Date(text));
const of = (changes: Partial<Permissions> = {}): Permissions => ({
  scopes: ['orders:self:read', 'orders:self:create'],
  allowed_ips: ['10.0.0.0/8', '203.0.113.7'],
  expires_at: NOON!,
  ...changes,
});

test.each<[string, Partial<Permissions>, string[]]>([
  ['the same', {}, []],
  ['fewer scopes', { scopes: ['orders:self:read'] }, []],
  ['another scope', { scopes: ['orders:self:read', 'orders:self:delete'] }, ['scopes']],
  ['some of the addresses', { allowed_ips: ['10.1.0.0/16', '203.0.113.7'] }, []],
  ['an address beside them', { allowed_ips: ['10.1.0.0/16', '203.0.113.8'] }, ['allowed_ips']],
  ['every address', { allowed_ips: [] }, ['allowed_ips']],
  ['a later end', { expires_at: EVENING! }, ['expires_at']],
  ['no end', { expires_at: null }, ['expires_at']],
  ['an earlier end', { expires_at: new Date(NOON!.getTime() - 1) }, []],
  [
    'more of all',
    { scopes: ['orders:self:delete'], allowed_ips: [], expires_at: null },
    ['scopes', 'allowed_ips', 'expires_at'],
  ],
])('a key may permit what it has, not more: %s', (_, wanted, paths) => {
  expect(excessOf(of(wanted), of()).map(({ path }) => path)).toEqual(paths);
});

test('a key without limits may set any', () => {
  expect(excessOf(of(), of({ allowed_ips: [], expires_at: null }))).toEqual([]);
});

// Few values, so that many permissions are within others.
const permissions = fc.record({
  scopes: fc.subarray(['orders:self:read', 'orders:self:create'] satisfies Scope[]),
  allowed_ips: fc.constantFrom<string[]>([], ['10.0.0.0/8'], ['10.1.0.0/16', '10.1.2.3'], ['203.0.113.7']),
  expires_at: fc.constantFrom(null, NOON!, EVENING!),
});

test('what a key made by a made key may do, the first key could have made itself', () => {
  const may = (wanted: Permissions, own: Permissions) => excessOf(wanted, own).length === 0;
  fc.assert(
    fc.property(permissions, permissions, permissions, (first, second, third) => {
      expect(may(first, first)).toBe(true);
      if (may(second, first) && may(third, second)) expect(may(third, first)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
