import { setTimeout as sleep } from 'node:timers/promises';
import { AdvanceTimeCall, Order } from '@cpg/contracts';
import { type CallContext, readCallContext } from '@cpg/platform';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { OrderCommands } from '../commands/order-commands.ts';
import type { ExistingOrder } from '../order/state.ts';
import { orderView } from '../order/view.ts';
import { OrderPath } from '../paths.ts';

const LOOKS = 10;
const LOOK_EVERY_MS = 300;

export interface OrderClockRoutes {
  readonly commands: OrderCommands;
  readonly now: () => Date;
}

/** Sandbox only: advances the clock of one order, so that a test need not wait for its deadline. */
export const orderClockRoutes: FastifyPluginAsyncZod<OrderClockRoutes> = async (app, { commands, now }) => {
  /** What was paid before now is normally reported within a second or two. The timer goes on if it takes longer. */
  const runDue = async (order: ExistingOrder, context: CallContext): Promise<ExistingOrder | null> => {
    for (let look = 0; look < LOOKS; look += 1) {
      const done = await commands.runDue(order, context);
      if (done !== 'awaits chains') return done;
      await sleep(LOOK_EVERY_MS);
    }
    return null;
  };
  const schema = { params: OrderPath, body: AdvanceTimeCall, response: { 200: Order } };
  app.post('/orders/:id/time', { config: { callers: ['gateway'] }, schema }, async (request) => {
    const context = readCallContext(request);
    const command = { type: 'AdvanceTime', minutes: request.body.minutes, at: now() } as const;
    const order = await commands.runAndNotify(request.params.id, command, context, { oncePerRequest: true });
    return orderView((await runDue(order, context)) ?? order);
  });
};
