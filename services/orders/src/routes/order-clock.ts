import { AdvanceTimeCall, Order } from '@cpg/contracts';
import { readCallContext } from '@cpg/runtime';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { OrderCommands } from '../commands.ts';
import { orderView } from '../order/view.ts';
import { OrderPath } from './paths.ts';

export interface OrderClockRoutes {
  readonly commands: OrderCommands;
  readonly now: () => Date;
}

/** Sandbox only: advances the clock of one order, so that a test need not wait for its deadline. */
export const orderClockRoutes: FastifyPluginAsyncZod<OrderClockRoutes> = async (app, { commands, now }) => {
  const schema = { params: OrderPath, body: AdvanceTimeCall, response: { 200: Order } };
  app.post('/orders/:id/time', { schema }, async (request) => {
    const context = readCallContext(request);
    const command = { type: 'AdvanceTime', minutes: request.body.minutes, at: now() } as const;
    const order = await commands.runAndNotify(request.params.id, command, context, { oncePerRequest: true });
    return orderView((await commands.runDue(order, context)) ?? order);
  });
};
