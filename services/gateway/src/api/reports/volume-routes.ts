import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { callerOf } from '../../door/request.ts';
import { readVolume } from './volume.ts';
import { getVolume } from './volume-schemas.ts';

export interface VolumeRouteOptions {
  readonly pool: Pool;
  readonly now: () => Date;
}

/** `/v1/reports/volume`. */
export const volumeRoutes: FastifyPluginAsyncZod<VolumeRouteOptions> = async (app, { pool: db, now }) => {
  const config = { scope: 'reports:self:read', isList: true } as const;
  app.get('/reports/volume', { config, schema: getVolume }, (request) => {
    const { from, to, timezone = 'UTC' } = request.query;
    return readVolume({ db, merchantId: callerOf(request).merchantId, from, to, timezone, at: now() });
  });
};
