import { Merchant } from '@cpg/contracts';
import type { Pool } from '@cpg/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { merchantById } from '../queries/merchants.ts';
import { callerOf } from '../request.ts';

/** `/v1/merchants/me`: the merchant of the API key. */
export const merchantRoutes: FastifyPluginAsyncZod<{ pool: Pool }> = async (app, { pool }) => {
  app.get(
    '/merchants/me',
    {
      config: { scope: 'merchant:self:read' },
      schema: {
        operationId: 'getMerchant',
        summary: 'Retrieve the authenticated merchant',
        tags: ['Merchant'],
        response: { 200: Merchant },
      },
    },
    async (request) => {
      const { merchantId } = callerOf(request);
      const merchant = await merchantById(pool, merchantId);
      if (!merchant) throw new Error(`merchant ${merchantId} of a valid key does not exist`);
      return merchant.resource;
    },
  );
};
