import {
  type DomainMessage,
  type OrderDeletionRecorded,
  type OrderMessage,
  paymentView,
  type PaymentMessage,
} from '@cpg/contracts';
import { AppError, isAppError } from '@cpg/core';
import type { EventMetadata, Recorded } from '@cpg/event-store';
import type { Pool } from '@cpg/postgres';
import { createLogger, type InternalClient, newId } from '@cpg/runtime';
import { messageFor } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
// A test may look at both sides; the services themselves share contracts and nothing else.
import { buildApp as buildOrders } from '../../../orders/src/app.ts';
import { paymentsClient } from '../../../orders/src/clients/payments.ts';
import { orderCommands } from '../../../orders/src/commands.ts';
import { orderDeletion } from '../../../orders/src/deletion.ts';
import { orderHistory } from '../../../orders/src/history.ts';
import { orderDecider } from '../../../orders/src/order/order.ts';
import { type ExistingOrder, exists as orderExists } from '../../../orders/src/order/state.ts';
import { orderView } from '../../../orders/src/order/view.ts';
import { reactToPayments } from '../../../orders/src/reactions/payments.ts';
import { buildApp as buildPayments } from '../app.ts';
import { paymentChanges } from '../changes.ts';
import { ordersClient } from '../clients/orders.ts';
import { paymentCommands } from '../commands.ts';
import { forgetPayments } from '../deletion.ts';
import { paymentHistory } from '../history.ts';
import { registerPayments } from '../matching.ts';
import { FeeSchedule } from '../payment/fees.ts';
import { paymentDecider } from '../payment/payment.ts';
import { exists as paymentExists } from '../payment/state.ts';
import { reactToOrders } from '../reactions/orders.ts';
import { orderTeller } from '../telling.ts';
import { memoryHandler } from './jest-memory.ts';

const TOKEN = 'a-token-that-services-share-in-tests';
const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

/** What becomes of a call between the services: `lost` on the way there, or `unanswered`, its answer on the way back. */
export type Fate = 'through' | 'lost' | 'unanswered';

export type Answer = { readonly status: number; readonly body: never };

/** Orders and payments as they are, but for their stores: streams in memory, no rows, calls between them that may be lost, and
 *  messages that stay on their way until they are delivered. */
export const startBothServices = () => {
  const log = createLogger({ name: 'both', level: 'silent' });
  let clock = Date.parse('2026-01-31T12:00:00.000Z');
  /** No instant comes twice. */
  const now = () => new Date((clock += 1));
  let fates: Fate[] = [];
  /** Nothing of what is on its way has been published when its stream is deleted: then it never will be. */
  let relayIsBehind = false;
  const onTheWay: DomainMessage[] = [];
  const deletions: (() => Promise<void>)[] = [];

  const orders = memoryHandler(orderDecider, (recorded, state) => {
    if (orderExists(state)) {
      const { orderId, merchantId } = state;
      onTheWay.push(
        messageOf(recorded, '/orders', { subject: orderId, orderId, merchantId, resource: orderView(state) }),
      );
    } else if (state.status === 'deleted') {
      deletions.push(() => deletion.finish(recorded, state.was, CONTEXT));
    }
  });
  const paymentHandler = memoryHandler(paymentDecider, (recorded, state) => {
    if (!paymentExists(state)) return;
    const { paymentId, orderId, merchantId } = state;
    const resource = paymentView(state);
    onTheWay.push(messageOf(recorded, '/payments', { subject: paymentId, orderId, merchantId, resource }));
  });

  const client = {
    // Only the record of a deletion is written past the handlers.
    appendToStream: async (
      _stream: string,
      [{ data, metadata }]: [{ data: DeletionData; metadata: EventMetadata }],
    ) => {
      const { orderId, merchantId, sequence: revision } = data;
      const recorded = { id: newId('event'), revision, event: { type: 'OrderDeletionRecorded', data }, metadata };
      onTheWay.push(messageOf(recorded, '/orders', { subject: orderId, orderId, merchantId, resource: null }));
    },
    tombstoneStream: async (stream: string) => {
      const id = stream.slice(stream.indexOf('-') + 1);
      (stream.startsWith('order') ? orders : paymentHandler).tombstone(id);
      const unpublished = ({ subject, type }: DomainMessage) => subject === id && type !== 'order.deleted';
      if (relayIsBehind) onTheWay.splice(0, onTheWay.length, ...onTheWay.filter((message) => !unpublished(message)));
    },
  } as unknown as EventStoreDBClient;
  const readModel = {
    query: async (sql: string, [orderId]: [string]) => ({
      rows: sql.startsWith('select id from payments')
        ? paymentsNaming(orderId).map(({ paymentId: id }) => ({ id }))
        : [],
    }),
  } as unknown as Pool;
  const paymentsNaming = (orderId: string) =>
    paymentHandler
      .states()
      .filter(paymentExists)
      .filter((payment) => payment.orderId === orderId);

  const callBy = (target: () => ReturnType<typeof buildPayments>): InternalClient => ({
    call: async (method, url, { body, response }) => {
      const fate = fates.shift() ?? 'through';
      const away = new AppError('dependency_unavailable', `the call was ${fate}`);
      if (fate === 'lost') throw away;
      const answer = await inject(target(), method, url, body);
      if (fate === 'unanswered') throw away;
      if (answer.status >= 400) {
        const { code, message } = answer.body as { code: 'not_found'; message: string };
        throw new AppError(code, message);
      }
      return response.parse(answer.body);
    },
    close: async () => {},
  });

  const payments = paymentsClient(callBy(() => paymentsApp));
  let price = '1';
  const commands = orderCommands({
    handler: orders,
    project: async () => {},
    payments,
    rates: { quote: async (_base, _currency, quotedAt) => ({ rate: price, source: 'test', quotedAt }) },
    now,
    log,
  });
  const deletion = orderDeletion({ client, handler: orders, readModel, payments });
  const ordersApp = buildOrders({
    token: TOKEN,
    commands,
    handler: orders,
    deletion,
    payments,
    history: orderHistory({ client, readModel }),
    sandbox: true,
    now,
    log,
    checks: {},
  });

  const paymentCommander = paymentCommands({ handler: paymentHandler, project: async () => {} });
  const forget = forgetPayments({ client, handler: paymentHandler, readModel });
  const toOrders = ordersClient(callBy(() => ordersApp));
  const tellOrder = orderTeller({ commands: paymentCommander, orders: toOrders, now });
  const fees = FeeSchedule.parse({
    version: '1',
    rails: { gateway_pay: { percent_bps: 50 }, crypto_deposit: { percent_bps: 100 } },
  });
  const paymentsApp = buildPayments({
    token: TOKEN,
    instructions: async () => [INSTRUCTION],
    register: registerPayments({
      commands: paymentCommander,
      orders: toOrders,
      tellOrder,
      orderOfAddress: async () => null,
      fees,
      now,
      log,
    }),
    changes: paymentChanges({ commands: paymentCommander, tellOrder, now, log }),
    commands: paymentCommander,
    forget,
    history: paymentHistory({ client, readModel }),
    log,
    checks: {},
  });
  const reactions = {
    '/payments': reactToPayments({ commands, payments, now }),
    '/orders': reactToOrders({ commands: paymentCommander, forget }),
  };

  return {
    /** Begins anew: nothing recorded, nothing on its way, nothing lost. */
    begin: (behind: boolean) => {
      for (const store of [orders, paymentHandler]) store.clear();
      for (const list of [onTheWay, deletions]) list.length = 0;
      fates = [];
      price = '1';
      relayIsBehind = behind;
    },
    /** What becomes of the next calls between the services; all later ones come through. */
    setFates: (next: readonly Fate[]) => void (fates = [...next]),
    setPrice: (next: string) => void (price = next),
    passMinutes: (minutes: number) => void (clock += minutes * 60_000),
    orders: (method: 'POST' | 'DELETE' | 'PATCH', url: string, body: object) => inject(ordersApp, method, url, body),
    payments: (method: 'POST', url: string, body: object) => inject(paymentsApp, method, url, body),
    /** The clock's part: what is due for the order. */
    watch: async (orderId: string) => {
      const state = orders.lastOf(orderId);
      if (orderExists(state)) await unlessRefused(commands.due(state, CONTEXT));
    },
    onTheWay,
    /** Delivers one message. A failure leaves it where it is, as a consumer does. */
    deliver: async (message: DomainMessage, { again }: { again: boolean }) => {
      try {
        if (message.source === '/orders') await reactions['/orders']([message as OrderMessage]);
        else await reactions['/payments']([message as PaymentMessage]);
      } catch (error) {
        if (!isAppError(error, 'dependency_unavailable')) throw error;
        return;
      }
      if (!again) onTheWay.splice(onTheWay.indexOf(message), 1);
    },
    /** What the catch-up does at the next start with deletions that were not finished. */
    finishDeletions: async () => {
      for (const finish of [...deletions])
        if (await unlessRefused(finish())) deletions.splice(deletions.indexOf(finish), 1);
    },
    /** The order as it is, or as it was right before it was deleted. */
    orderOf: (orderId: string): { order: ExistingOrder; deleted: boolean } => {
      const order = orders.lastOf(orderId);
      if (order.status === 'none') throw new Error('it never was');
      return order.status === 'deleted' ? { order: order.was, deleted: true } : { order, deleted: false };
    },
    /** The payments that name the order, but for those that were deleted with it. */
    paymentsOf: paymentsNaming,
    stop: () => Promise.all([ordersApp.close(), paymentsApp.close()]),
  };
};

export type BothServices = ReturnType<typeof startBothServices>;

const INSTRUCTION = {
  rail: 'gateway_pay',
  currency: 'USDC',
  provider: 'sandbox',
  paymentReference: 'REF',
  paymentUrl: 'http://127.0.0.1:4000/pay/REF',
} as const;

const inject = async (
  app: ReturnType<typeof buildPayments>,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: unknown,
): Promise<Answer> => {
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-actor': CONTEXT.actor, 'x-request-id': CONTEXT.requestId };
  const options = { method, url, headers, ...(payload !== undefined && { payload: payload as object }) };
  const { statusCode: status, body } = await app.inject(options);
  if (status === 500) throw new Error(`${method} ${url} was answered with 500`);
  return { status, body: (body === '' || status === 204 ? undefined : JSON.parse(body)) as never };
};

/** Whether it was done. What is refused, or away, is tried again later. */
const unlessRefused = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return false;
  }
};

type DeletionData = OrderDeletionRecorded['data'];

const messageOf = (
  recorded: Pick<Recorded<{ type: string; data: { at: string } }>, 'id' | 'event' | 'metadata' | 'revision'>,
  source: '/orders' | '/payments',
  subject: { subject: string; orderId: string; merchantId: string; resource: unknown },
) => messageFor(recorded, { source, ...subject }) as DomainMessage;
