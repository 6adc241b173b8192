/** What a page or a button needs, by its purpose. */
export const NEEDS = {
  overview: 'reports:self:read',
  readMerchant: 'merchant:self:read',
  updateMerchant: 'merchant:self:update',
  readOrders: 'orders:self:read',
  createOrders: 'orders:self:create',
  updateOrders: 'orders:self:update',
  deleteOrders: 'orders:self:delete',
  readPayments: 'payments:self:read',
  refund: 'payments:self:refund',
  readWebhooks: 'webhooks:self:read',
  createWebhooks: 'webhooks:self:create',
  updateWebhooks: 'webhooks:self:update',
  deleteWebhooks: 'webhooks:self:delete',
  readKeys: 'api-keys:self:read',
  createKeys: 'api-keys:self:create',
  updateKeys: 'api-keys:self:update',
  revokeKeys: 'api-keys:self:revoke',
  readUsers: 'users:self:read',
  createUsers: 'users:self:create',
  updateUsers: 'users:self:update',
  deleteUsers: 'users:self:delete',
  readRequests: 'requests:self:read',
  readAuditLog: 'audit-log:self:read',
} as const;

export type Need = keyof typeof NEEDS;

export const allows = (scopes: readonly string[], need: Need): boolean => scopes.includes(NEEDS[need]);

/** The scopes by what they are about: `orders` with `create`, `read`. A scope of another form stands alone. */
export const groupScopes = (scopes: readonly string[]): Map<string, string[]> => {
  const groups = new Map<string, string[]>();
  for (const scope of scopes) {
    const [about = scope] = scope.split(':');
    groups.set(about, [...(groups.get(about) ?? []), scope]);
  }
  return groups;
};
