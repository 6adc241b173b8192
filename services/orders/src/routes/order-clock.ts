import { AdvanceTimeCall, Order } from '@cpg/contracts';
import { type Logger, readCallContext } from '@cpg/runtime';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { PaymentsClient } from '../clients/payments.ts';
import type { OrderCommands } from '../commands.ts';
import { notifyPayments } from '../notify-payments.ts';
import { orderView } from '../order/view.ts';
import { OrderPath } from './paths.ts';

export interface OrderClockRoutes {
  readonly commands: OrderCommands;
  readonly payments: PaymentsClient;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Sandbox only: advances the clock of one order, so that a test need not wait for its deadline. */
export const orderClockRoutes: FastifyPluginAsyncZod<OrderClockRoutes> = async (
  app,
  { commands, payments, now, log },
) => {
  const schema = { params: OrderPath, body: AdvanceTimeCall, response: { 200: Order } };
  app.post('/orders/:id/time', { schema }, async (request) => {
    const context = readCallContext(request);
    const command = { type: 'AdvanceTime', minutes: request.body.minutes, at: now() } as const;
    const { order } = await commands.run(request.params.id, command, context);
    const due = await commands.runDue(order, context);
    return orderView(due ? await notifyPayments(due, context, { payments, log }) : order);
  });
};
