import { z } from 'zod';

/** The scopes of API keys. `self` means: only resources of the key's own merchant. */
export const Scope = z.enum([
  'merchant:self:read',
  'merchant:self:update',
  'orders:self:create',
  'orders:self:read',
  'orders:self:update',
  'orders:self:delete',
  'payments:self:read',
  'payments:self:refund',
  'webhooks:self:create',
  'webhooks:self:read',
  'webhooks:self:update',
  'webhooks:self:delete',
]);
export type Scope = z.infer<typeof Scope>;
