import { randomBytes } from 'node:crypto';
import { AppError, OrderId, parsePositiveAmount, PaymentId, type Scales, WebhookId } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { callContext } from '../../door/request.ts';
import { notFound, orNotFound, parseId, type ResourceName } from '../ids.ts';
import { type OwnedOrder, ownedOrder } from '../orders/order-queries.ts';
import type { OrdersClient } from '../orders/orders-client.ts';
import { merchantIdOfPayment } from '../payments/payment-queries.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';
import type { WebhookDispatcherClient } from '../webhooks/webhook-dispatcher-client.ts';
import { merchantIdOfWebhook, webhookById } from '../webhooks/webhook-queries.ts';
import * as schemas from './debug-schemas.ts';

export interface DebugRouteOptions {
  readonly scales: Scales;
  readonly pool: Pool;
  readonly orders: OrdersClient;
  readonly payments: PaymentsClient;
  readonly dispatcher: WebhookDispatcherClient;
}

/** `/debug` routes that simulate payments, time and events. Sandboxes only. */
export const debugRoutes: FastifyPluginAsyncZod<DebugRouteOptions> = async (app, options) => {
  const { pool, orders, dispatcher } = options;
  await app.register(debugPaymentRoutes, options);

  app.post('/orders/:id/advance-time', { schema: schemas.advanceTime }, async (request, reply) => {
    const id = parseId(OrderId, 'order', request.params.id);
    await requireOwnerOfOrder(request, { pool, orders }, id);
    return reply.code(201).send(await orders.advanceTime(id, request.body, callContext(request)));
  });

  app.post('/test-webhook', { schema: schemas.testWebhook }, async (request, reply) => {
    const { webhook_id, event_type } = request.body;
    const owner = await merchantIdOfWebhook(pool, parseId(WebhookId, 'webhook', webhook_id));
    const merchantId = requireOwner(request, 'webhook', owner);
    const { is_enabled, events } = orNotFound('webhook', await webhookById(pool, merchantId, webhook_id));
    const sent = await dispatcher.sendTest({ webhook_id, event_type }, callContext(request));
    return reply
      .code(201)
      .header('location', `/v1/webhooks/${webhook_id}/deliveries/${sent.delivery_id}`)
      .send({ ...sent, is_enabled, is_subscribed: events.includes(event_type) });
  });
};

/** `/debug` routes that stand in for the payer and the rails. Sandboxes only. */
const debugPaymentRoutes: FastifyPluginAsyncZod<{
  pool: Pool;
  orders: OrdersClient;
  payments: PaymentsClient;
  scales: Scales;
}> = async (app, { pool, orders, payments, scales }) => {
  const ownPaymentId = async (request: FastifyRequest, pathParameter: string): Promise<string> => {
    const id = parseId(PaymentId, 'payment', pathParameter);
    requireOwner(request, 'payment', await merchantIdOfPayment(pool, id));
    return id;
  };

  app.post('/register-payment', { schema: schemas.registerPayment }, async (request, reply) => {
    const { order_id, payment_rail: rail, outcome = 'confirmed' } = request.body;
    parsePositiveAmount(request.body, scales[request.body.currency]);
    const { rails } = await requireOwnerOfOrder(request, { pool, orders }, parseId(OrderId, 'order', order_id));
    if (rails.length > 0 && !rails.includes(rail))
      throw new AppError(
        'rail_not_enabled',
        `the order does not enable ${rail}: send payment_rail ${[...new Set(rails)].join(' or ')}`,
      );
    const context = callContext(request);
    const registered = await payments.register(registrationOf(request.body), context);
    const { order } = outcome === 'failed' ? await payments.fail(registered.payment.id, {}, context) : registered;
    return reply.code(201).header('location', `/v1/payments/${registered.payment.id}`).send(orNotFound('order', order));
  });

  app.post('/payments/:id/confirm', { schema: schemas.confirmPayment }, async (request, reply) => {
    const id = await ownPaymentId(request, request.params.id);
    const { order } = await payments.confirm(id, {}, callContext(request));
    return reply.code(201).send(orNotFound('order', order));
  });

  app.post('/payments/:id/fail', { schema: schemas.failPayment }, async (request, reply) => {
    const id = await ownPaymentId(request, request.params.id);
    const reason = request.body?.reason;
    const call = reason === undefined ? {} : { failure_reason: reason };
    const { order } = await payments.fail(id, call, callContext(request));
    return reply.code(201).send(orNotFound('order', order));
  });
};

type RegisterPaymentBody = z.infer<typeof schemas.RegisterPaymentBody>;

const registrationOf = ({ order_id, payment_rail, amount, currency, txHash, outcome }: RegisterPaymentBody) => ({
  order_id,
  rail: payment_rail,
  provider_id: txHash ?? `debug_${randomBytes(16).toString('hex')}`,
  amount,
  currency,
  confirmed: outcome === undefined || outcome === 'confirmed',
  // Otherwise a repeated request would make the failed payment received and fail it again.
  ...(outcome === 'failed' && { reinstates: false }),
  ...(txHash !== undefined && { tx_hash: txHash }),
});

/** The merchant of the resource. Throws 404 if it does not exist, or belongs to another merchant than the caller. A
 *  request without a key may use any. */
const requireOwner = ({ caller }: FastifyRequest, resource: ResourceName, merchantId: string | null): string => {
  if (merchantId === null || (caller && caller.merchantId !== merchantId)) throw notFound(resource);
  return merchantId;
};

/** The same for an order. Asks orders if the row is missing: PostgreSQL can lose it in a crash. */
const requireOwnerOfOrder = async (
  request: FastifyRequest,
  { pool, orders }: { readonly pool: Pool; readonly orders: Pick<OrdersClient, 'summary'> },
  id: string,
): Promise<OwnedOrder> => {
  const order = (await ownedOrder(pool, id)) ?? (await askOrders());
  requireOwner(request, 'order', order?.merchantId ?? null);
  return order!;

  async function askOrders(): Promise<OwnedOrder | null> {
    const summary = await orders.summary(id, callContext(request));
    return summary && { merchantId: summary.merchant_id, rails: summary.rails };
  }
};
