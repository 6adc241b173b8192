import { type Availability, isTemporary, Merchant, type PaymentMethod } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { PaymentsClient } from '../payments/payments-client.ts';
import { merchantById } from './merchant-queries.ts';
import { callContext, callerOf } from '../../door/request.ts';

export interface MerchantRouteOptions {
  readonly pool: Pool;
  readonly payments: Pick<PaymentsClient, 'availability'>;
}

/** `/v1/merchants/me`: the merchant of the API key. */
export const merchantRoutes: FastifyPluginAsyncZod<MerchantRouteOptions> = async (app, { pool, payments }) => {
  app.get(
    '/merchants/me',
    {
      config: { scope: 'merchant:self:read' },
      schema: {
        operationId: 'getMerchant',
        summary: 'Retrieve the authenticated merchant',
        description:
          '`payment_methods` has what new orders can be paid with now: it omits the currencies whose networks are unavailable, because a deposit would not be seen there.',
        tags: ['Merchant'],
        response: { 200: Merchant },
      },
    },
    async (request) => {
      const { merchantId } = callerOf(request);
      const [merchant, available] = await Promise.all([
        merchantById(pool, merchantId),
        payments.availability(callContext(request)).catch(unknownIfUnavailable),
      ]);
      if (!merchant) throw new Error(`merchant ${merchantId} of a valid key does not exist`);
      const { payment_methods: methods, ...resource } = merchant.resource;
      return { ...resource, payment_methods: available ? availableMethods(methods, available) : methods };
    },
  );
};

/** While payments is unavailable, the methods are shown as the operator set them. */
const unknownIfUnavailable = (error: unknown): null => {
  if (isTemporary(error)) return null;
  throw error;
};

const availableMethods = (methods: readonly PaymentMethod[], { offers }: Availability): PaymentMethod[] =>
  methods
    .map((method) => ({
      ...method,
      supported_currencies: method.supported_currencies.filter((each) =>
        offers[method.type].some(({ currency, is_available }) => currency === each && is_available),
      ),
    }))
    .filter(({ supported_currencies }) => supported_currencies.length > 0);
