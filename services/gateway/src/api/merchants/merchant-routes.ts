import {
  type Availability,
  type CreateMerchantDto,
  isTemporary,
  Merchant,
  type PaymentMethod,
  UpdateMerchantDto,
} from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { PaymentsClient } from '../payments/payments-client.ts';
import { depositSettingsOf, getDepositSettings } from './deposit-settings.ts';
import { changeMerchant } from './merchant-changes.ts';
import { changesByMerchant } from './merchant-definition.ts';
import { merchantById } from './merchant-queries.ts';
import { callContext, callerOf, changeBy } from '../../door/request.ts';

export interface MerchantRouteOptions {
  readonly pool: Pool;
  readonly payments: Pick<PaymentsClient, 'availability' | 'depositSettings'>;
  readonly now: () => Date;
}

const getMerchant = {
  operationId: 'getMerchant',
  summary: 'Retrieve the authenticated merchant',
  description:
    '`payment_methods` has what new orders can be paid with now: it omits the currencies whose networks are unavailable, because a deposit would not be seen there.',
  tags: ['Merchant'],
  response: { 200: Merchant },
};

const updateMerchant = {
  operationId: 'updateMerchant',
  summary: 'Update the authenticated merchant',
  description:
    'Changes your profile and `order_defaults`. Fields that are absent stay, also those of the profile; `order_defaults` is replaced as a whole. New orders get the defaults for fields that their requests leave out. Orders that exist keep their values, and a repeated request gets the order of the first one. The operator of the gateway changes the rest: `type`, `external_reference_id`, `payment_methods` and how deposits are received.',
  tags: ['Merchant'],
  body: UpdateMerchantDto,
  response: { 200: Merchant },
};

/** `/v1/merchants/me`: the merchant of the API key. */
export const merchantRoutes: FastifyPluginAsyncZod<MerchantRouteOptions> = async (app, { pool, payments, now }) => {
  const shown = async (merchantId: string, request: FastifyRequest): Promise<Merchant> => {
    const [merchant, available] = await Promise.all([
      merchantById(pool, merchantId),
      payments.availability(callContext(request)).catch(unknownIfUnavailable),
    ]);
    if (!merchant) throw new Error(`merchant ${merchantId} of a valid key does not exist`);
    const { payment_methods: methods, ...resource } = merchant.resource;
    return { ...resource, payment_methods: available ? availableMethods(methods, available) : methods };
  };

  app.get('/merchants/me', { config: { scope: 'merchant:self:read' }, schema: getMerchant }, (request) =>
    shown(callerOf(request).merchantId, request),
  );

  app.get(
    '/merchants/me/deposit-settings',
    { config: { scope: 'merchant:self:read' }, schema: getDepositSettings },
    async (request) =>
      depositSettingsOf(await payments.depositSettings(callerOf(request).merchantId, callContext(request))),
  );

  app.patch('/merchants/me', { config: { scope: 'merchant:self:update' }, schema: updateMerchant }, async (request) => {
    const { merchantId } = callerOf(request);
    const changesOf = (before: CreateMerchantDto) => changesByMerchant(before, request.body);
    await changeMerchant(pool, merchantId, changesOf, changeBy(request, now()));
    return shown(merchantId, request);
  });
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
