import { CreateOrderCall, OrderCall, OrderDeletion, UpdateOrderCall } from '@cpg/contracts';
import { type CallContext, readCallContext } from '@cpg/platform';
import { afterRecording } from '@cpg/event-sourcing';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { OrderCommands } from './commands/order-commands.ts';
import type { Deletion } from './commands/deletion.ts';
import { loadOrder, type OrderHandler } from './commands/order-handler.ts';
import type { OrderCommand } from './order/command.ts';
import { orderText } from './order/view.ts';
import { OrderPath } from './paths.ts';
import { sendJsonText } from './send-json-text.ts';

export interface MerchantOrderRoutes {
  readonly commands: OrderCommands;
  readonly handler: OrderHandler;
  readonly deletion: Deletion;
  /** How long rates may be locked, from their quote. */
  readonly rateLockMaxMinutes: number;
  readonly now: () => Date;
}

/** Commands of merchants, called by the gateway. */
export const merchantOrderRoutes: FastifyPluginAsyncZod<MerchantOrderRoutes> = async (
  app,
  { commands, handler, deletion, rateLockMaxMinutes, now },
) => {
  /** Resolves to the text of the order. */
  const runForMerchant = async (
    orderId: string,
    merchantId: string,
    command: OrderCommand,
    context: CallContext,
  ): Promise<string> =>
    orderText(await commands.runAndNotify(orderId, command, context, { merchantId, oncePerRequest: true }));
  const config = { callers: ['gateway'] } as const;
  const merchantCall = { params: OrderPath, body: OrderCall };

  const create = { config: { ...config, load: 'create' }, schema: { body: CreateOrderCall } } as const;
  app.post('/orders', create, async (request, reply) => {
    const { order, isRepeat } = await commands.create(request.body, readCallContext(request));
    if (isRepeat) reply.header('idempotency-replayed', 'true');
    reply.code(201).header('location', `/orders/${order.orderId}`);
    return sendJsonText(reply, orderText(order));
  });

  app.post('/orders/:id/cancel', { config, schema: merchantCall }, async (request, reply) => {
    const command = { type: 'CancelOrder', at: now() } as const;
    const { merchant_id } = request.body;
    return sendJsonText(reply, await runForMerchant(request.params.id, merchant_id, command, readCallContext(request)));
  });

  app.post('/orders/:id/capture', { config, schema: merchantCall }, async (request, reply) => {
    const command = { type: 'CapturePayments', at: now() } as const;
    const { merchant_id } = request.body;
    return sendJsonText(reply, await runForMerchant(request.params.id, merchant_id, command, readCallContext(request)));
  });

  app.patch('/orders/:id', { config, schema: { ...merchantCall, body: UpdateOrderCall } }, async (request, reply) => {
    const { merchant_id, changes } = request.body;
    const { metadata, expiration_minutes: expirationMinutes } = changes;
    const command = { type: 'UpdateOrder', metadata, expirationMinutes, rateLockMaxMinutes, at: now() } as const;
    return sendJsonText(reply, await runForMerchant(request.params.id, merchant_id, command, readCallContext(request)));
  });

  app.delete(
    '/orders/:id',
    { config, schema: { ...merchantCall, response: { 200: OrderDeletion } } },
    async (request) => {
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
    },
  );
};
