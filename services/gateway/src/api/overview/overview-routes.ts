import { isTemporary } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { callContext, callerOf } from '../../door/request.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';
import { readOverview } from './overview.ts';
import { getOverview } from './overview-schemas.ts';

export interface OverviewRouteOptions {
  readonly pool: Pool;
  readonly payments: Pick<PaymentsClient, 'availability'>;
  readonly now: () => Date;
}

/** `/v1/merchants/me/overview`. */
export const overviewRoutes: FastifyPluginAsyncZod<OverviewRouteOptions> = async (app, { pool, payments, now }) => {
  const config = { scope: 'reports:self:read', isList: true } as const;
  app.get('/merchants/me/overview', { config, schema: getOverview }, async (request) => {
    const { merchantId, paymentMethods: methods } = callerOf(request);
    // The rest is worth showing without the networks.
    const availability = await payments.availability(callContext(request)).catch((error: unknown) => {
      if (isTemporary(error)) return undefined;
      throw error;
    });
    const { timezone = 'UTC' } = request.query;
    return readOverview({ db: pool, merchantId, methods, availability, timezone, at: now() });
  });
};
