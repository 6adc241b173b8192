import {
  type AcceptedCurrency,
  Currencies,
  ItemCurrency,
  type PaymentMethod,
  priceDecimals,
  type UnavailableReason,
} from '@cpg/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { callContext, callerOf } from '../../door/request.ts';
import type { OrdersClient } from '../orders/orders-client.ts';

/** Rates are read anew every minute. */
const MAX_AGE_S = 60;

const getCurrencies = {
  operationId: 'getCurrencies',
  summary: 'Retrieve the currencies of prices and payments',
  description: `Returns what new orders can be priced and paid in now, so that a shop hides the rest: every price currency, and the payment currencies that you accept, with their rails, networks and limits. The limits hold at the rates of now: leave room for their next change. What cannot be used stays in the answer, with \`is_available: false\` and the code of the error that an order with it would get. You may keep the answer for ${MAX_AGE_S} seconds.`,
  tags: ['Merchant'],
  response: { 200: Currencies },
};

/** `/v1/currencies`: what the orders of the merchant can be priced and paid in. */
export const currencyRoutes: FastifyPluginAsyncZod<{ orders: Pick<OrdersClient, 'currencies'> }> = async (
  app,
  { orders },
) => {
  app.get('/currencies', { config: { scope: 'merchant:self:read' }, schema: getCurrencies }, async (request, reply) => {
    const { payment_currencies: all } = await orders.currencies(callContext(request));
    const accepted = acceptedOf(all, callerOf(request).paymentMethods);
    reply.headers({ 'cache-control': `private, max-age=${MAX_AGE_S}`, vary: 'x-api-key' });
    return { price_currencies: pricesIn(accepted), payment_currencies: accepted };
  });
};

const acceptedOf = (currencies: readonly AcceptedCurrency[], methods: readonly PaymentMethod[]): AcceptedCurrency[] =>
  currencies
    .map(({ rails, ...each }) => ({
      ...each,
      rails: rails.filter(({ rail }) =>
        methods.some(({ type, supported_currencies }) => type === rail && supported_currencies.includes(each.currency)),
      ),
    }))
    .filter(({ rails }) => rails.length > 0);

/** A price currency is available if an order in it can be paid in one of these currencies. */
const pricesIn = (accepted: readonly AcceptedCurrency[]): Currencies['price_currencies'] => {
  const rails = accepted.flatMap((each) => each.rails);
  return ItemCurrency.options.map((currency) => {
    const priced = rails.filter(({ limits }) => limits.some((limit) => limit.currency === currency));
    const reason: UnavailableReason | undefined = priced.some(({ is_available }) => is_available)
      ? undefined
      : priced.length > 0
        ? 'network_unavailable'
        : 'rate_unavailable';
    const availability = { is_available: reason === undefined, ...(reason && { unavailable_reason: reason }) };
    return { currency, decimals: priceDecimals(currency), ...availability };
  });
};
