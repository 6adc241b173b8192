import { setTimeout as sleep } from 'node:timers/promises';
import {
  AcceptOrderCall,
  AdvanceTimeCall,
  CancelOrderCall,
  CreateOrderCall,
  OrderCall,
  OrderDeletion,
  OrderRefund,
  PayableCurrencies,
  RefundOrderCall,
  UpdateOrderCall,
} from '@cpg/contracts';
import { afterRecording } from '@cpg/event-sourcing';
import { type CallContext, readCallContext } from '@cpg/platform';
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Deletion } from './commands/deletion.ts';
import type { OrderChanges } from './commands/order-changes.ts';
import type { RefundOrder } from './commands/refund-order.ts';
import type { OrderCommands } from './commands/order-commands.ts';
import { loadOrder, type OrderHandler } from './commands/order-handler.ts';
import type { CreateOrder } from './create/create-order.ts';
import type { FindPayableCurrencies } from './create/payable-currencies.ts';
import type { RunDue } from './deadlines/deadlines.ts';
import type { ExistingOrder } from './order/state.ts';
import { orderText } from './order/view.ts';

export interface MerchantRoutes {
  readonly create: CreateOrder;
  readonly currencies: FindPayableCurrencies;
  readonly commands: OrderCommands;
  readonly handler: OrderHandler;
  readonly changes: OrderChanges;
  readonly deletion: Deletion;
  readonly refundOrder: RefundOrder;
  readonly runDue: RunDue;
  readonly now: () => Date;
}

const OrderPath = z.object({ id: z.string() });
const config = { callers: ['gateway'] } as const;

const sendOrder = (reply: FastifyReply, order: ExistingOrder): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(orderText(order));

/** Commands of merchants, called by the gateway. */
export const merchantRoutes: FastifyPluginAsyncZod<MerchantRoutes> = async (
  app,
  { create, currencies, handler, changes, deletion, refundOrder, now },
) => {
  const createOrder = { config: { ...config, load: 'create' }, schema: { body: CreateOrderCall } } as const;
  app.post('/orders', createOrder, async (request, reply) => {
    const { order, isRepeat } = await create(request.body, readCallContext(request));
    if (isRepeat) reply.header('idempotency-replayed', 'true');
    reply.code(201).header('location', `/orders/${order.orderId}`);
    return sendOrder(reply, order);
  });

  app.get('/currencies', { config, schema: { response: { 200: PayableCurrencies } } }, () => currencies());

  const schema = { params: OrderPath, body: OrderCall };

  app.post('/orders/:id/cancel', { config, schema: { ...schema, body: CancelOrderCall } }, async (request, reply) =>
    sendOrder(reply, await changes.cancel(request.params.id, request.body, readCallContext(request))),
  );

  app.post('/orders/:id/capture', { config, schema }, async (request, reply) =>
    sendOrder(reply, await changes.capture(request.params.id, request.body, readCallContext(request))),
  );

  const refund = { params: OrderPath, body: RefundOrderCall, response: { 200: OrderRefund } };
  app.post('/orders/:id/refund', { config, schema: refund }, (request) =>
    refundOrder(request.params.id, request.body, readCallContext(request)),
  );

  app.post('/orders/:id/accept', { config, schema: { ...schema, body: AcceptOrderCall } }, async (request, reply) =>
    sendOrder(reply, await changes.accept(request.params.id, request.body, readCallContext(request))),
  );

  app.patch('/orders/:id', { config, schema: { ...schema, body: UpdateOrderCall } }, async (request, reply) =>
    sendOrder(reply, await changes.update(request.params.id, request.body, readCallContext(request))),
  );

  app.delete('/orders/:id', { config, schema: { ...schema, response: { 200: OrderDeletion } } }, async (request) => {
    const { id } = request.params;
    const context = readCallContext(request);
    const { merchant_id: merchantId } = request.body;
    const { state: before } = await handler.load(id);
    if (before.status === 'deleted' && before.lastState.merchantId === merchantId)
      // An earlier request recorded the deletion.
      await afterRecording(() => deletion.resume(before.lastState, context));
    else {
      await deletion.refuseUnsettled(await loadOrder(handler, id, merchantId), context);
      const { state, events } = await handler.handle(id, { type: 'DeleteOrder', at: now() }, context);
      if (state.status === 'deleted')
        await afterRecording(() => deletion.finish(events.at(-1)!, state.lastState, context));
    }
    return { id, deleted: true as const };
  });
};

const LOOKS = 10;
const LOOK_EVERY_MS = 300;

/** Sandbox only: advances the clock of one order, so that a test need not wait for its deadline. */
export const orderClockRoutes: FastifyPluginAsyncZod<Pick<MerchantRoutes, 'commands' | 'runDue' | 'now'>> = async (
  app,
  { commands, runDue, now },
) => {
  /** Money that was paid before now is normally reported within two seconds. The timer goes on if it takes longer. */
  const runDueSoon = async (order: ExistingOrder, context: CallContext): Promise<ExistingOrder | null> => {
    for (let look = 0; look < LOOKS; look += 1) {
      const done = await runDue(order, context);
      if (done !== 'awaits chains') return done;
      await sleep(LOOK_EVERY_MS);
    }
    return null;
  };
  const schema = { params: OrderPath, body: AdvanceTimeCall };
  app.post('/orders/:id/time', { config, schema }, async (request, reply) => {
    const context = readCallContext(request);
    const command = { type: 'AdvanceTime', minutes: request.body.minutes, at: now() } as const;
    const order = await commands.runAndNotify(request.params.id, command, context, { oncePerRequest: true });
    return sendOrder(reply, (await runDueSoon(order, context)) ?? order);
  });
};
