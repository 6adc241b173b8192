import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { callerOf } from '../../door/request.ts';
import { listChanges } from './audit-log.ts';
import { listAuditLog } from './audit-log-schemas.ts';

export interface AuditLogRouteOptions {
  readonly pool: Pool;
}

const LIST = { scope: 'audit-log:self:read', isList: true, repeatable: ['type'] } as const;

/** `/v1/merchants/me/audit-log`: who changed what of the merchant. Only owners and admins see it: it shows changes of
 *  keys, users and webhooks alike, also of those that their role does not show. */
export const auditLogRoutes: FastifyPluginAsyncZod<AuditLogRouteOptions> = async (app, { pool }) => {
  app.get('/merchants/me/audit-log', { config: LIST, schema: listAuditLog }, (request) =>
    listChanges(pool, callerOf(request).merchantId, request.query),
  );
};
