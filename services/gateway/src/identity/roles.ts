import { z } from 'zod';
import { Scope } from '../door/keys/api-key.ts';

/** What a user of a merchant may do. */
export const Role = z.enum(['owner', 'admin', 'developer', 'support', 'viewer']);
export type Role = z.infer<typeof Role>;

// Everybody sees who the others are, because histories name them.
const READS = [
  'merchant:self:read',
  'orders:self:read',
  'payments:self:read',
  'webhooks:self:read',
  'reports:self:read',
  'users:self:read',
] as const satisfies Scope[];

/** Each role: what it is for, and its scopes, which are those of API keys. */
export const ROLES: Readonly<Record<Role, { readonly description: string; readonly scopes: readonly Scope[] }>> = {
  owner: { description: 'Everything, and the only role that makes and changes owners.', scopes: Scope.options },
  admin: { description: 'Everything but owners.', scopes: Scope.options },
  developer: {
    description: 'Builds the integration: orders, webhooks and API keys. Refunds nothing, and changes no users.',
    scopes: [
      ...READS,
      'orders:self:create',
      'orders:self:update',
      'webhooks:self:create',
      'webhooks:self:update',
      'webhooks:self:delete',
      'api-keys:self:create',
      'api-keys:self:read',
      'api-keys:self:update',
      'api-keys:self:revoke',
      'requests:self:read',
    ],
  },
  support: {
    description: 'Helps payers: changes, cancels and captures orders, and refunds payments.',
    scopes: [...READS, 'orders:self:create', 'orders:self:update', 'payments:self:refund'],
  },
  viewer: { description: 'Reads everything but API keys.', scopes: READS },
};

/** Who wants to give a role, or to change a user who has it. */
export interface Manager {
  readonly scopes: ReadonlySet<string>;
  /** Null for an API key. */
  readonly role: Role | null;
}

/** Whether `manager` may give `role`. Nobody gives more than they may do, and only owners make owners. */
export const mayGive = ({ scopes, role: own }: Manager, role: Role): boolean =>
  role === 'owner' ? own === 'owner' : ROLES[role].scopes.every((scope) => scopes.has(scope));
