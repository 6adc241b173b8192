import {
  Availability,
  ChainsWaiting,
  ChainsWaitingCall,
  ConfirmationCall,
  FailureCall,
  HistoryQuery,
  Instructions,
  InstructionsCall,
  OutcomesCall,
  PaymentHistory,
  RecordedHistory,
  RefundCall,
  RegisteredPayment,
  RegisterPaymentCall,
  Stock,
  StockCall,
  UnsettledPayment,
  UnsettledPaymentCall,
} from '@cpg/contracts';
import { readCallContext } from '@cpg/runtime';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { PaymentChanges } from './changes.ts';
import type { StandingOfChain } from './chains/chain-standing.ts';
import type { PaymentCommands } from './commands.ts';
import type { DeletePayments } from './deletion.ts';
import type { PaymentHistoryReader } from './history.ts';
import type { RegisterPayment } from './matching.ts';

export interface PaymentRoutes {
  readonly availability: () => Promise<Availability>;
  readonly instructions: (call: InstructionsCall) => Promise<Instructions>;
  readonly stock: (call: StockCall) => Promise<Stock>;
  readonly register: RegisterPayment;
  readonly changes: PaymentChanges;
  readonly commands: Pick<PaymentCommands, 'recordOutcomes'>;
  readonly deletePayments: DeletePayments;
  /** A payment of the order that is not settled, other than `heldByOrder`. */
  readonly unsettledPayment: (orderId: string, heldByOrder: readonly string[]) => Promise<string | null>;
  readonly standingOfChain: StandingOfChain;
  readonly history: PaymentHistoryReader;
}

const Id = z.object({ id: z.string() });
const Nothing = z.null().describe('No body.');

/** Internal routes: deposit instructions, payments and their history. */
export const paymentRoutes: FastifyPluginAsyncZod<PaymentRoutes> = async (
  app,
  {
    availability,
    instructions,
    stock,
    register,
    changes,
    commands,
    deletePayments,
    unsettledPayment,
    standingOfChain,
    history,
  },
) => {
  app.post(
    '/instructions',
    { config: { load: 'create' }, schema: { body: InstructionsCall, response: { 200: Instructions } } },
    (request) => instructions(request.body),
  );

  app.get('/availability', { schema: { response: { 200: Availability } } }, () => availability());

  app.post('/stock', { schema: { body: StockCall, response: { 200: Stock } } }, (request) => stock(request.body));

  app.post(
    '/payments',
    { schema: { body: RegisterPaymentCall, response: { 201: RegisteredPayment } } },
    async (request, reply) => reply.code(201).send(await register(request.body, readCallContext(request))),
  );

  const changeOf = <T extends z.ZodType>(body: T) => ({ params: Id, body, response: { 200: RegisteredPayment } });

  app.post('/payments/:id/confirmation', { schema: changeOf(ConfirmationCall) }, (request) =>
    changes.confirm(request.params.id, request.body, readCallContext(request)),
  );

  app.post('/payments/:id/failure', { schema: changeOf(FailureCall) }, (request) =>
    changes.fail(request.params.id, request.body, readCallContext(request)),
  );

  app.post('/payments/:id/refunds', { schema: changeOf(RefundCall) }, (request) =>
    changes.refund(request.params.id, request.body, readCallContext(request)),
  );

  app.post('/outcomes', { schema: { body: OutcomesCall, response: { 204: Nothing } } }, async (request, reply) => {
    await commands.recordOutcomes(request.body.outcomes, readCallContext(request));
    return reply.code(204).send(null);
  });

  app.post(
    '/orders/:id/unsettled-payment',
    { schema: { params: Id, body: UnsettledPaymentCall, response: { 200: UnsettledPayment } } },
    async (request) => ({ payment_id: await unsettledPayment(request.params.id, request.body.held_by_order) }),
  );

  app.post(
    '/chains/waiting',
    { schema: { body: ChainsWaitingCall, response: { 200: ChainsWaiting } } },
    async ({ body: { networks, addresses, at } }) => {
      const standings = await Promise.all(networks.map((network) => standingOfChain(network, new Date(at), addresses)));
      return {
        waiting_for: networks.filter((_, index) => standings[index] !== 'reported'),
        unreported: networks.filter((_, index) => standings[index] === 'unreported'),
      };
    },
  );

  app.delete('/orders/:id/payments', { schema: { params: Id, response: { 204: Nothing } } }, async (request, reply) => {
    await deletePayments(request.params.id);
    return reply.code(204).send(null);
  });

  app.get(
    '/orders/:id/messages',
    { schema: { params: Id, querystring: HistoryQuery, response: { 200: PaymentHistory } } },
    (request) => history.messagesOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/history',
    { schema: { params: Id, querystring: HistoryQuery, response: { 200: RecordedHistory } } },
    (request) => history.entriesOf(request.params.id, request.query),
  );
};
