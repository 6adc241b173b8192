import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { callerOf } from '../../door/request.ts';
import { listLoggedRequests } from './request-list.ts';
import { listRequests } from './request-schemas.ts';

export interface RequestRouteOptions {
  readonly pool: Pool;
}

const LIST = { scope: 'requests:self:read', isList: true } as const;

/** `/v1/requests`: the request log of the merchant. */
export const requestRoutes: FastifyPluginAsyncZod<RequestRouteOptions> = async (app, { pool }) => {
  app.get('/requests', { config: LIST, schema: listRequests }, (request) =>
    listLoggedRequests(pool, callerOf(request).merchantId, request.query),
  );
};
