import { AppError, PaymentPageSettings, PaymentPageSettingsDto } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { createMerchantSlots } from '../../door/limits/merchant-slots.ts';
import { callerOf, canAnswer, changeBy } from '../../door/request.ts';
import { orNotFound } from '../ids.ts';
import { paymentPageSettings, replacePaymentPageSettings } from './payment-page-settings.ts';

export interface PaymentPageSettingsRouteOptions {
  readonly pool: Pool;
  readonly allowLocalUrls: boolean;
  readonly now: () => Date;
}

/** A logo of 1 MiB in base64, and the other settings. */
const BODY_LIMIT_BYTES = 1_536 * 1024;

const tags = ['Merchant'];

const getSettings = {
  operationId: 'getPaymentPageSettings',
  summary: 'Retrieve the settings of the payment page',
  description: 'Returns how the payment page looks for your payers.',
  tags,
  response: { 200: PaymentPageSettings },
};

const replaceSettings = {
  operationId: 'replacePaymentPageSettings',
  summary: 'Replace the settings of the payment page',
  description:
    'Sets how the payment page looks for your payers. A field that is absent gets its default; only an absent `logo` keeps the stored one.',
  tags,
  body: PaymentPageSettingsDto,
  response: { 200: PaymentPageSettings },
};

/** `/v1/merchants/me/payment-page`: how the payment page looks for the merchant. */
export const paymentPageSettingsRoutes: FastifyPluginAsyncZod<PaymentPageSettingsRouteOptions> = async (
  app,
  { pool, allowLocalUrls, now },
) => {
  // Decoding an image occupies one of the four threads of the process, up to seconds. The others compress responses.
  const decoders = createMerchantSlots({ maxRunning: 1, maxWaiting: 4, maxTotal: 2 });

  app.get(
    '/merchants/me/payment-page',
    { config: { scope: 'merchant:self:read' }, schema: getSettings },
    async (request) => orNotFound('merchant', await paymentPageSettings(pool, callerOf(request).merchantId)),
  );

  app.put(
    '/merchants/me/payment-page',
    { config: { scope: 'merchant:self:update' }, schema: replaceSettings, bodyLimit: BODY_LIMIT_BYTES },
    async (request, reply) => {
      const { merchantId } = callerOf(request);
      const free = await decoders.acquire(merchantId);
      if (!free) {
        reply.header('retry-after', 2);
        throw new AppError('rate_limited', 'earlier changes of the payment page are still running');
      }
      // The request timed out or the client disconnected while it waited.
      if (!canAnswer(reply)) {
        free();
        return reply.hijack();
      }
      const options = { pool, allowLocalUrls, change: changeBy(request, now()) };
      const replaced = replacePaymentPageSettings(merchantId, request.body, options).finally(free);
      return orNotFound('merchant', await replaced);
    },
  );
};
