import {
  RecordedProviderPayment,
  ProvidersWaitingCall,
  ProvidersWaiting,
  ProviderCallbackCall,
  PaymentPageAddresses,
  MerchantId,
  DepositSettingsView,
  DepositSettingsCall,
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
  CancelRefundCall,
  CheckedAddress,
  ClaimAddressCall,
  ClaimedRefund,
  IssuedRefundClaim,
  IssueRefundClaimCall,
  Refund,
  OrderRefundCall,
  RefundableCall,
  RefundableOfOrder,
  RefundCall,
  RefundRequest,
  RefundRequestCall,
  RegisteredPayment,
  RegisterPaymentCall,
  Stock,
  StockCall,
  PaymentsOfOrder,
  UnsettledPayment,
  UnsettledPaymentCall,
} from '@cpg/contracts';
import { readCallContext } from '@cpg/platform';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ReadStatusOf } from './chains/chain-status.ts';
import type { PaymentHistoryReader } from './history.ts';
import type { DepositSettingsOf } from './addresses/merchant-settings.ts';
import type { PaymentChanges } from './matching/changes.ts';
import type { PaymentCommands } from './matching/commands.ts';
import type { RegisterPayment } from './matching/register.ts';
import type { DeletePayments } from './read/deletion.ts';
import type { RefundClaims } from './refunds/refund-claims.ts';
import type { OrderRefunds } from './refunds/order-refunds.ts';
import type { RequestedRefunds } from './refunds/requested-refunds.ts';
import type { AskLast } from './rails/gateway-pay/last-queries.ts';
import type { PageAddresses } from './rails/gateway-pay/page-addresses.ts';
import type { ReceiveCallback } from './rails/gateway-pay/provider-reports.ts';

export interface PaymentRoutes {
  readonly availability: () => Promise<Availability>;
  readonly instructions: (call: InstructionsCall) => Promise<Instructions>;
  readonly stock: (call: StockCall) => Promise<Stock>;
  readonly register: RegisterPayment;
  readonly changes: PaymentChanges;
  readonly requestedRefunds: RequestedRefunds;
  readonly orderRefunds: OrderRefunds;
  readonly commands: Pick<PaymentCommands, 'recordOutcomes'>;
  readonly deletePayments: DeletePayments;
  /** A payment of the order that is not settled, other than `heldByOrder`. */
  readonly unsettledPayment: (orderId: string, heldByOrder: readonly string[]) => Promise<UnsettledPayment>;
  /** The ids of all payments of an order. */
  readonly paymentIdsOf: (orderId: string) => Promise<string[]>;
  readonly readStatusOf: ReadStatusOf;
  readonly history: PaymentHistoryReader;
}

export interface ClaimRoutes {
  readonly refundClaims: RefundClaims;
}

export interface ProviderRoutes {
  readonly receiveCallback: ReceiveCallback;
  readonly askLast: AskLast;
}

export interface PageRoutes {
  readonly pageAddresses: PageAddresses;
}

const Id = z.object({ id: z.string() });
const Nothing = z.null().describe('No body.');
const FOR_GATEWAY = { callers: ['gateway'] } as const;
const FOR_ORDERS = { callers: ['orders'] } as const;

const changeOf = <T extends z.ZodType>(body: T) => ({ params: Id, body, response: { 200: RegisteredPayment } });

/** Internal routes: deposit instructions, payments and their history. */
export const paymentRoutes: FastifyPluginAsyncZod<PaymentRoutes> = async (
  app,
  {
    availability,
    instructions,
    stock,
    changes,
    requestedRefunds,
    orderRefunds,
    commands,
    deletePayments,
    unsettledPayment,
    paymentIdsOf,
    readStatusOf,
    history,
  },
) => {
  app.post(
    '/instructions',
    { config: { ...FOR_ORDERS, load: 'create' }, schema: { body: InstructionsCall, response: { 200: Instructions } } },
    (request) => instructions(request.body),
  );

  app.get(
    '/availability',
    { config: { callers: ['orders', 'gateway'] }, schema: { response: { 200: Availability } } },
    () => availability(),
  );

  app.post('/stock', { config: FOR_ORDERS, schema: { body: StockCall, response: { 200: Stock } } }, (request) =>
    stock(request.body),
  );

  app.post('/payments/:id/refunds', { config: FOR_GATEWAY, schema: changeOf(RefundCall) }, (request) => {
    const refund = request.body.settle === 'on_chain' ? requestedRefunds.request : changes.refund;
    return refund(request.params.id, request.body, readCallContext(request));
  });

  app.post(
    '/refunds/:id/request',
    { config: FOR_GATEWAY, schema: { params: Id, body: RefundRequestCall, response: { 200: RefundRequest } } },
    (request) => requestedRefunds.paymentRequest(request.params.id, request.body, readCallContext(request)),
  );

  app.post(
    '/refunds/:id/cancel',
    { config: FOR_GATEWAY, schema: { params: Id, body: CancelRefundCall, response: { 200: Refund } } },
    (request) => requestedRefunds.cancel(request.params.id, request.body.merchant_id, readCallContext(request)),
  );

  app.post(
    '/refundable',
    { config: FOR_ORDERS, schema: { body: RefundableCall, response: { 200: RefundableOfOrder } } },
    (request) => orderRefunds.refundable(request.body.payment_ids),
  );

  const orderRefund = { config: FOR_ORDERS, schema: { body: OrderRefundCall, response: { 204: Nothing } } };
  app.post('/order-refunds', orderRefund, async (request, reply) => {
    await orderRefunds.record(request.body, readCallContext(request));
    return reply.code(204).send(null);
  });

  const outcomes = { config: FOR_ORDERS, schema: { body: OutcomesCall, response: { 204: Nothing } } };
  app.post('/outcomes', outcomes, async (request, reply) => {
    await commands.recordOutcomes(request.body.outcomes, readCallContext(request));
    return reply.code(204).send(null);
  });

  app.post(
    '/orders/:id/unsettled-payment',
    { config: FOR_ORDERS, schema: { params: Id, body: UnsettledPaymentCall, response: { 200: UnsettledPayment } } },
    (request) => unsettledPayment(request.params.id, request.body.held_by_order),
  );

  app.get(
    '/orders/:id/payments',
    { config: FOR_ORDERS, schema: { params: Id, response: { 200: PaymentsOfOrder } } },
    async (request) => ({ payment_ids: await paymentIdsOf(request.params.id) }),
  );

  app.post(
    '/chains/waiting',
    { config: FOR_ORDERS, schema: { body: ChainsWaitingCall, response: { 200: ChainsWaiting } } },
    async ({ body: { networks, addresses, at } }) => {
      const statuses = await Promise.all(networks.map((network) => readStatusOf(network, new Date(at), addresses)));
      return {
        waiting_for: networks.filter((_, index) => statuses[index] !== 'reported'),
        unreported: networks.filter((_, index) => statuses[index] === 'unreported'),
      };
    },
  );

  const deletion = { config: FOR_ORDERS, schema: { params: Id, response: { 204: Nothing } } };
  app.delete('/orders/:id/payments', deletion, async (request, reply) => {
    await deletePayments(request.params.id);
    return reply.code(204).send(null);
  });

  app.get(
    '/orders/:id/messages',
    {
      config: { callers: ['webhook-dispatcher'] },
      schema: { params: Id, querystring: HistoryQuery, response: { 200: PaymentHistory } },
    },
    (request) => history.messagesOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/history',
    {
      config: { callers: ['gateway', 'admin'] },
      schema: { params: Id, querystring: HistoryQuery, response: { 200: RecordedHistory } },
    },
    (request) => history.entriesOf(request.params.id, request.query),
  );
};

/** Internal routes: the links on which payers enter the addresses of their refunds. */
export const claimRoutes: FastifyPluginAsyncZod<ClaimRoutes> = async (app, { refundClaims }) => {
  const config = FOR_GATEWAY;
  const params = z.object({ hash: z.string() });
  const address = { params, body: ClaimAddressCall, response: { 200: CheckedAddress } };

  app.post(
    '/refunds/:id/claim',
    { config, schema: { params: Id, body: IssueRefundClaimCall, response: { 200: IssuedRefundClaim } } },
    (request) => refundClaims.issue(request.params.id, request.body, readCallContext(request)),
  );

  app.get('/claims/:hash', { config, schema: { params, response: { 200: ClaimedRefund } } }, (request) =>
    refundClaims.show(request.params.hash),
  );

  app.post('/claims/:hash/check', { config, schema: address }, (request) =>
    refundClaims.check(request.params.hash, request.body),
  );

  app.post('/claims/:hash/confirm', { config, schema: address }, (request) =>
    refundClaims.confirm(request.params.hash, request.body, readCallContext(request)),
  );
};

/** Sandbox only: payments that no rail has seen. In production, chains and providers alone report money. */
export const simulatedPaymentRoutes: FastifyPluginAsyncZod<Pick<PaymentRoutes, 'register' | 'changes'>> = async (
  app,
  { register, changes },
) => {
  const config = FOR_GATEWAY;

  app.post(
    '/payments',
    { config, schema: { body: RegisterPaymentCall, response: { 201: RegisteredPayment } } },
    async (request, reply) => reply.code(201).send(await register(request.body, readCallContext(request))),
  );

  app.post('/payments/:id/confirmation', { config, schema: changeOf(ConfirmationCall) }, (request) =>
    changes.confirm(request.params.id, request.body, readCallContext(request)),
  );

  app.post('/payments/:id/failure', { config, schema: changeOf(FailureCall) }, (request) =>
    changes.fail(request.params.id, request.body, readCallContext(request)),
  );
};

/** The internal routes of outside providers: callbacks, which the gateway passes on, and the last question of
 *  orders. */
export const providerRoutes: FastifyPluginAsyncZod<ProviderRoutes> = async (app, { receiveCallback, askLast }) => {
  const name = z.object({ name: z.string() });
  app.post(
    '/providers/:name/callbacks',
    {
      config: FOR_GATEWAY,
      schema: { params: name, body: ProviderCallbackCall, response: { 200: RecordedProviderPayment } },
    },
    (request) => receiveCallback(request.params.name, request.body, readCallContext(request)),
  );

  app.post(
    '/providers/waiting',
    { config: FOR_ORDERS, schema: { body: ProvidersWaitingCall, response: { 200: ProvidersWaiting } } },
    async (request) => ({ waiting_for: await askLast(request.body.references, readCallContext(request)) }),
  );
};

/** The internal route of payment pages, which the gateway serves. */
export const pageRoutes: FastifyPluginAsyncZod<PageRoutes> = async (app, { pageAddresses }) => {
  const schema = { params: z.object({ reference: z.string() }), response: { 200: PaymentPageAddresses } };
  app.get('/pages/:reference', { config: FOR_GATEWAY, schema }, (request) => pageAddresses(request.params.reference));
};

/** Internal routes: the accounts and confirmations of a merchant. */
export const depositSettingsRoutes: FastifyPluginAsyncZod<{ depositSettings: DepositSettingsOf }> = async (
  app,
  { depositSettings },
) => {
  const path = '/merchants/:id/deposit-settings';
  const params = z.object({ id: MerchantId });
  const response = { 200: DepositSettingsView };
  const read = { callers: ['admin', 'gateway'] } as const;
  const change = { callers: ['admin'] } as const;
  app.get(path, { config: read, schema: { params, response } }, (request) => depositSettings.show(request.params.id));
  app.post(path, { config: change, schema: { params, body: DepositSettingsCall, response } }, (request) =>
    depositSettings.change(request.params.id, request.body, readCallContext(request)),
  );
};
