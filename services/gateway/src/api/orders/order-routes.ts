import { AppError, isAppError, type NewOrder, type Order, OrderId } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import {
  completeOrderDeletion,
  isDeletionUnanswered,
  recordOrderDeletion,
} from '../../door/idempotency/deleted-resources.ts';
import {
  idempotencyKeyOf,
  orderIdOfKey,
  requestFingerprint,
  sendStored,
  sendText,
} from '../../door/idempotency/idempotency-key.ts';
import { callContext, callerOf, canAnswer } from '../../door/request.ts';
import { orNotFound, parseId } from '../ids.ts';
import { checkBrowserUrl } from '../merchant-urls.ts';
import { orderDefaultsOf } from '../merchants/merchant-queries.ts';
import { completeOrder, needsDefaults, withMissingFields } from '../merchants/order-defaults.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';
import { inRecordedTime, createHistoryReader, createPublicHistoryReader, encodeCursor } from './order-history.ts';
import { listOrders, orderById } from './order-queries.ts';
import * as schemas from './order-schemas.ts';
import type { CreatedOrder, OrderDeletion, OrderRef, OrdersClient } from './orders-client.ts';

export interface OrderRouteOptions {
  readonly orders: OrdersClient;
  readonly payments: PaymentsClient;
  readonly pool: Pool;
  /** Whether `return_url` and `cancel_url` may be http URLs of this machine. */
  readonly allowLocalUrls: boolean;
}

const CREATE = {
  load: 'create',
  scope: 'orders:self:create',
  shows: 'order',
  keyDecidedBy: 'orders',
} as const;

const CHANGE = { scope: 'orders:self:update', shows: 'order' } as const;

/** `/v1/orders`. Commands go to the orders service, reads to its read model. */
export const orderRoutes: FastifyPluginAsyncZod<OrderRouteOptions> = async (app, options) => {
  const { orders, payments, pool, allowLocalUrls: allowLocal } = options;
  const readHistory = createPublicHistoryReader(createHistoryReader({ orders, payments }), pool);
  const findOrder = async (request: FastifyRequest, id: string): Promise<Order> => {
    const { orderId, merchantId } = orderRef(request, id);
    return orNotFound('order', await orderById(pool, merchantId, orderId));
  };

  // The handler adds to the fault of the schema what no schema knows: the fields without a default of the merchant.
  const create = { config: CREATE, schema: schemas.createOrder, attachValidation: true } as const;
  app.post('/orders', create, async (request, reply) => {
    const { merchantId, paymentMethods } = callerOf(request);
    const { validationError: fault } = request;
    if (fault) throw withMissingFields(fault, request.body, await orderDefaultsOf(pool, merchantId));
    for (const path of ['return_url', 'cancel_url'] as const) {
      const url = request.body[path];
      if (url !== undefined) checkBrowserUrl(url, { path, allowLocal });
    }
    const key = idempotencyKeyOf(request);
    const defaults = needsDefaults(request.body) ? await orderDefaultsOf(pool, merchantId) : {};
    const { order, refusal } = completeOrder(request.body, { defaults, methods: paymentMethods });
    if (refusal && key === undefined) throw refusal;
    const call = {
      // With a key, all gateways and all repeats name the same order, so nothing is stored here.
      order_id: key === undefined ? `ord_${request.seed}` : orderIdOfKey(merchantId, key),
      merchant_id: merchantId,
      // It may lack a field if it is refused: a repeat reads none.
      order: order as NewOrder,
      ...(key !== undefined && { request_hash: requestFingerprint(request) }),
      // The merchant may have changed its payment methods or defaults since the first request.
      ...(refusal && { only_repeat: true }),
    };
    const created = orders.create(call, callContext(request)).catch((error: unknown) => {
      throw refusal && isAppError(error, 'not_found') ? refusal : error;
    });
    return sendCreated(reply, await created);
  });

  app.get(
    '/orders',
    {
      config: { scope: 'orders:self:read', isList: true, repeatable: ['status'] },
      schema: schemas.listOrders,
      preValidation: async (request) => {
        request.query = schemas.gatherMetadata(request.query) as typeof request.query;
      },
    },
    (request) => listOrders(pool, callerOf(request).merchantId, request.query),
  );

  app.get('/orders/:id', { config: { scope: 'orders:self:read' }, schema: schemas.getOrder }, async (request) => {
    const current = await findOrder(request, request.params.id);
    const { at } = request.query;
    if (!at) return current;
    const past = await orders.at(current.id, inRecordedTime(at), callContext(request));
    if (!past) throw new AppError('not_found', 'the order did not exist at this time');
    return past;
  });

  app.get(
    '/orders/:id/history',
    { config: { scope: 'orders:self:read' }, schema: schemas.listOrderHistory },
    async (request) => {
      const order = await findOrder(request, request.params.id);
      const { messages, more } = await readHistory(order, request.query, callContext(request));
      return {
        items: messages.map(({ message }) => message),
        ...(more && { next_cursor: encodeCursor(messages.at(-1)!.place) }),
      };
    },
  );

  app.patch('/orders/:id', { config: { scope: 'orders:self:update' }, schema: schemas.updateOrder }, (request) =>
    orders.update(orderRef(request, request.params.id), request.body, callContext(request)),
  );

  const remove = { config: { scope: 'orders:self:delete' }, schema: schemas.deleteOrder } as const;
  app.delete('/orders/:id', remove, (request, reply) =>
    deleteOrder(options, orderRef(request, request.params.id), request, reply),
  );

  app.post('/orders/:id/cancel', { config: CHANGE, schema: schemas.cancelOrder }, async (request, reply) =>
    reply
      .code(201)
      .send(await orders.cancel(orderRef(request, request.params.id), request.body ?? {}, callContext(request))),
  );

  const refund = { config: { scope: 'payments:self:refund', shows: 'order' }, schema: schemas.refundOrder } as const;
  app.post('/orders/:id/refund', refund, async (request, reply) => {
    const call = { order_refund_id: `orf_${request.seed}`, ...request.body };
    return reply.code(201).send(await orders.refund(orderRef(request, request.params.id), call, callContext(request)));
  });

  app.post('/orders/:id/capture', { config: CHANGE, schema: schemas.captureOrder }, async (request, reply) =>
    reply.code(201).send(await orders.capture(orderRef(request, request.params.id), callContext(request))),
  );

  app.post('/orders/:id/accept', { config: CHANGE, schema: schemas.acceptOrder }, async (request, reply) => {
    const ref = orderRef(request, request.params.id);
    return reply.code(201).send(await orders.accept(ref, request.body, callContext(request)));
  });
};

/** Sends a create's response as orders rendered it. */
const sendCreated = (reply: FastifyReply, { text, path, isRepeat }: CreatedOrder): FastifyReply => {
  const send = isRepeat ? sendStored : sendText;
  return send(reply.header('location', `/v1${path}`), { status: 201, text });
};

/** Deletes an order and the stored responses that show it. */
const deleteOrder = async (
  { orders, pool }: Pick<OrderRouteOptions, 'orders' | 'pool'>,
  ref: OrderRef,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<OrderDeletion> => {
  const { merchantId, orderId } = ref;
  await recordOrderDeletion(pool, merchantId, orderId);
  const deletion = await orders.remove(ref, callContext(request)).catch(async (error: unknown) => {
    // An earlier request deleted the order, and its answer was a 503 or got lost.
    if (isAppError(error, 'not_found') && (await isDeletionUnanswered(pool, merchantId, orderId)))
      return { id: orderId, deleted: true as const };
    throw error;
  });
  const isAnswered = canAnswer(reply);
  await completeOrderDeletion(pool, merchantId, orderId, { isAnswered }).catch((error: unknown) => {
    // The cleanup completes the deletion. No request gets the responses meanwhile.
    request.log.warn({ err: error, orderId }, 'could not delete the stored responses of an order');
  });
  return deletion;
};

const orderRef = (request: FastifyRequest, id: string): OrderRef => ({
  orderId: parseId(OrderId, 'order', id),
  merchantId: callerOf(request).merchantId,
});
