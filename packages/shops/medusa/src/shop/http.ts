import { defineMiddlewares } from '@medusajs/framework/http';
import type { MedusaRequest, MedusaResponse } from '@medusajs/framework/http';
import { ContainerRegistrationKeys } from '@medusajs/framework/utils';
import { type MedusaAmount, moneyOf } from '../amounts.ts';
import { getRuntime } from './runtime.ts';

/** The signature covers the raw body, so Medusa has to keep it. Its default limit of 100 kB is too small for an order
 *  with many payments. */
export const middlewares = defineMiddlewares({
  routes: [
    { matcher: '/crypto-payments/webhook', methods: ['POST'], bodyParser: { preserveRawBody: true, sizeLimit: '1mb' } },
  ],
});

/** Answers 2xx only when Medusa has what the event says. Anything else makes the gateway send it again. */
export const receiveWebhook = async (request: MedusaRequest, response: MedusaResponse): Promise<void> => {
  const { shop } = getRuntime();
  const { status } = await shop.receive((request.rawBody as Buffer | undefined) ?? '', request.headers);
  response.sendStatus(status);
};

/** The coins with which a cart can be paid now, so that a storefront hides the others. */
export const listCoins = async (request: MedusaRequest, response: MedusaResponse): Promise<void> => {
  const query = request.scope.resolve(ContainerRegistrationKeys.QUERY);
  const id = String(request.query.cart_id);
  const { data } = await query.graph({ entity: 'cart', fields: ['id', 'total', 'currency_code'], filters: { id } });
  const cart = data[0] as { total: MedusaAmount; currency_code: string } | undefined;
  // Undefined for a cart that does not exist, or whose currency the gateway does not know.
  const total = cart && moneyOf(cart.total, cart.currency_code);
  const coins = total ? await getRuntime().shop.coins(total) : [];
  // With a fault, the gateway cannot be reached: the storefront then offers no coin.
  response.json({ coins: 'kind' in coins ? [] : coins });
};
