import { defineMiddlewares } from '@medusajs/framework/http';
import type { MedusaRequest, MedusaResponse } from '@medusajs/framework/http';
import { ContainerRegistrationKeys } from '@medusajs/framework/utils';
import { type MedusaAmount, moneyOf } from '../amounts.ts';
import { getRuntime } from './runtime.ts';

/** Events are verified on the body as it came. An event of an order with many payments is larger than 100 kB. */
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
  const total = cart && moneyOf(cart.total, cart.currency_code);
  const coins = total ? await getRuntime().shop.coins(total) : [];
  response.json({ coins: 'kind' in coins ? [] : coins });
};
