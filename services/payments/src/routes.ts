import {
  type AssignedInstruction,
  Instructions,
  InstructionsCall,
  OutcomesCall,
  RegisteredPayment,
  RegisterPaymentCall,
} from '@cpg/contracts';
import { contextOf } from '@cpg/runtime';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PaymentCommands } from './commands.ts';
import type { RegisterPayment } from './matching.ts';

export interface PaymentRoutes {
  readonly instructions: (call: InstructionsCall) => Promise<AssignedInstruction[]>;
  readonly register: RegisterPayment;
  readonly commands: Pick<PaymentCommands, 'recordOutcomes'>;
  readonly forget: (orderId: string) => Promise<void>;
}

const Nothing = z.null().describe('No body.');

/** Rails and payments, for the other services. */
export const paymentRoutes: FastifyPluginAsyncZod<PaymentRoutes> = async (
  app,
  { instructions, register, commands, forget },
) => {
  app.post(
    '/instructions',
    { schema: { body: InstructionsCall, response: { 200: Instructions } } },
    async (request) => ({
      instructions: await instructions(request.body),
    }),
  );

  app.post(
    '/payments',
    { schema: { body: RegisterPaymentCall, response: { 201: RegisteredPayment } } },
    async (request, reply) => reply.code(201).send(await register(request.body, contextOf(request))),
  );

  app.post('/outcomes', { schema: { body: OutcomesCall, response: { 204: Nothing } } }, async (request, reply) => {
    await commands.recordOutcomes(request.body.outcomes, contextOf(request));
    return reply.code(204).send(null);
  });

  app.delete(
    '/orders/:id/payments',
    { schema: { params: z.object({ id: z.string() }), response: { 204: Nothing } } },
    async (request, reply) => {
      await forget(request.params.id);
      return reply.code(204).send(null);
    },
  );
};
