import type { ApiKey } from '@cpg/sdk';
import { unusedScopes } from './unused-scopes.ts';

const NOW_MS = Date.parse('2026-03-31T12:00:00Z');
const key = (more: Partial<ApiKey> = {}) =>
  ({
    status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    scopes: ['orders:self:create', 'orders:self:read', 'payments:self:read'],
    scopes_last_used: [
      { scope: 'orders:self:create', last_used_on: '2026-03-01' },
      { scope: 'orders:self:read', last_used_on: '2026-02-28' },
    ],
    ...more,
  }) as ApiKey;

test('names the scopes that were not used for 30 days, or never', () => {
  expect(unusedScopes(key(), NOW_MS)).toEqual(['orders:self:read', 'payments:self:read']);
});

test.each([
  ['is younger', { created_at: '2026-03-02T00:00:00.000Z' }],
  ['was changed since', { updated_at: '2026-03-02T00:00:00.000Z' }],
  ['is revoked', { status: 'revoked' as const }],
])('names none of a key that %s', (_, more) => expect(unusedScopes(key(more), NOW_MS)).toEqual([]));

test('names all of a key that was changed long ago and is not used', () => {
  expect(unusedScopes(key({ updated_at: '2026-02-01T00:00:00.000Z', scopes_last_used: [] }), NOW_MS)).toHaveLength(3);
});
