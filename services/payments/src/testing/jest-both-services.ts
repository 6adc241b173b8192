import { readAssets } from '@cpg/assets';
import {
  type AssignedInstruction,
  type DomainMessage,
  isAppError,
  isTemporary,
  type OrderMessage,
  type PaymentMessage,
  scalesOf,
} from '@cpg/contracts';
import { createLogger, type InternalClient, type Logger } from '@cpg/platform';
import { buildApp as buildOrders } from '../../../orders/src/app.ts';
import { paymentsClient } from '../../../orders/src/commands/payments-client.ts';
import { orderChanges } from '../../../orders/src/commands/order-changes.ts';
import { orderCommands } from '../../../orders/src/commands/order-commands.ts';
import { orderRefunding } from '../../../orders/src/commands/refund-order.ts';
import { orderDeletion } from '../../../orders/src/commands/deletion.ts';
import { orderHistory } from '../../../orders/src/read/history.ts';
import { withOrderLog } from '../../../orders/src/commands/order-handler.ts';
import { type ExistingOrder, exists as orderExists } from '../../../orders/src/order/state.ts';
import { reactToPayments } from '../../../orders/src/payments/reaction.ts';
import { unreadChains } from '../../../orders/src/deadlines/unread-chains.ts';
import { buildApp as buildPayments } from '../app.ts';
import { compareBooks, orderBookOf, paymentBookOf } from '../books/books.ts';
import { paymentHistory } from '../history.ts';
import { paymentChanges } from '../matching/changes.ts';
import { paymentCommands, withPaymentLog } from '../matching/commands.ts';
import { orderNotifier, ordersClient } from '../matching/notify-order.ts';
import { reactToOrders } from '../matching/order-decisions.ts';
import { registerPayments } from '../matching/register.ts';
import type { PaymentCommand } from '../payment/command.ts';
import { FeeSchedule } from '../payment/fees.ts';
import { receiveCallbacks } from '../rails/gateway-pay/provider-reports.ts';
import { orderRefunds } from '../refunds/order-refunds.ts';
import { paymentDeletion } from '../read/deletion.ts';
import { CONTEXT, TOKENS } from './jest-fixtures.ts';
import { memoryStreams, type MemoryStreams } from './jest-memory-streams.ts';
import { inject, unreliableCalls } from './jest-unreliable-calls.ts';
import { orderCreation } from '../../../orders/src/create/create-order.ts';
import { dueOrders } from '../../../orders/src/deadlines/deadlines.ts';
import { findPayables } from '../../../orders/src/create/payables.ts';

/** The networks of the published examples. */
const MAINNETS = readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18 });

export type BothServices = ReturnType<typeof startBothServices>;

/** The call that creates an order of 10 USDC with a payment page. */
export const createCall = (
  ids: { readonly orderId: string; readonly merchantId: string },
  { capabilities = {}, ...more }: { readonly capabilities?: object; readonly [field: string]: unknown } = {},
) => ({
  order_id: ids.orderId,
  merchant_id: ids.merchantId,
  order: {
    external_reference_id: 'cart-1',
    items: [{ name: 'tea', quantity: 1, unit_price: '10', currency: 'USD' }],
    enable_rails: ['gateway_pay'],
    payment_currency: 'USDC',
    capabilities: { ...CAPABILITIES, ...capabilities },
    ...more,
  },
});

const CAPABILITIES = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: true,
  express_checkout: false,
  expiration_auto_renewal: false,
};

/** Orders and payments with streams in memory and no read models. Calls between them may be lost, and messages stay in
 *  flight until they are delivered. */
export const startBothServices = ({
  instruction = PAGE,
  log = createLogger({ name: 'both', level: 'silent' }),
}: { readonly instruction?: AssignedInstruction; readonly log?: Logger } = {}) => {
  let clock = Date.parse('2026-01-31T12:00:00.000Z');
  let tickMs = 1;
  /** Never returns the same instant twice, unless the clock is stopped. */
  const now = () => new Date((clock += tickMs));
  let price = '1';
  let smallestPayableMinor: string | undefined;
  const streams = memoryStreams();
  const calls = unreliableCalls();
  const keptLines = new Map<string, number>();
  const orders = ordersService({
    streams,
    now,
    price: () => price,
    http: calls.clientOf(() => payments.app, 'orders'),
    log,
  });
  const payments = paymentsService({
    streams,
    now,
    instruction: () => withSmallestPayable(instruction, smallestPayableMinor),
    http: calls.clientOf(() => orders.app, 'payments'),
    keptLines,
    log,
  });

  return {
    /** Clears all streams and messages and resets every setting. */
    reset: (relayIsBehind: boolean) => {
      streams.clear(relayIsBehind);
      calls.setFates([]);
      price = '1';
      smallestPayableMinor = undefined;
    },
    /** The fates of the next calls between the services; later calls are delivered. */
    setFates: calls.setFates,
    setPrice: (next: string) => void (price = next),
    /** For later orders: a rest below it settles them. */
    setSmallestPayable: (minor: string | undefined) => void (smallestPayableMinor = minor),
    minutesAgo: (minutes: number) => new Date(clock - minutes * 60_000).toISOString(),
    /** Sets the clock to an instant, at which it stays until it is set again. */
    stopClockAt: (instant: string) => void ([clock, tickMs] = [Date.parse(instant), 0]),
    passMinutes: (minutes: number) => void (clock += minutes * 60_000),
    orders: (method: 'POST' | 'DELETE' | 'PATCH', url: string, body: object) => inject(orders.app, method, url, body),
    payments: (method: 'POST', url: string, body: object) => inject(payments.app, method, url, body),
    /** Runs a command of an operator, in a process of its own: it calls no service. */
    operator: (paymentId: string, command: PaymentCommand) => streams.payments.handle(paymentId, command, CONTEXT),
    now,
    /** Does what the deadline watcher does for one order. */
    watch: async (orderId: string) => {
      const state = streams.orders.lastOf(orderId);
      if (orderExists(state)) await succeeds(orders.runDue(state, CONTEXT));
    },
    inFlight: streams.inFlight,
    /** Delivers one message. On a failure it stays in flight, as with a Kafka consumer; with `again` it is also
     *  delivered later. */
    deliver: async (message: DomainMessage, { again }: { again: boolean }) => {
      try {
        if (message.source === '/orders') await payments.react([message as OrderMessage]);
        else await orders.react([message as PaymentMessage]);
      } catch (error) {
        if (!isTemporary(error)) throw error;
        return;
      }
      if (!again) streams.inFlight.splice(streams.inFlight.indexOf(message), 1);
    },
    /** Finishes interrupted deletions, as the projection does after a restart. */
    finishDeletions: async () => {
      for (const deletion of [...streams.deletions])
        if (await succeeds(orders.deletion.finish(deletion.recorded, deletion.order, CONTEXT)))
          streams.deletions.splice(streams.deletions.indexOf(deletion), 1);
    },
    /** The order, or its state right before it was deleted. */
    orderOf: (orderId: string): { order: ExistingOrder; deleted: boolean } => {
      const order = streams.orders.lastOf(orderId);
      if (order.status === 'none') throw new Error(`${orderId} does not exist`);
      return order.status === 'deleted' ? { order: order.lastState, deleted: true } : { order, deleted: false };
    },
    /** The payments that name the order, except those deleted with it. */
    paymentsOf: streams.paymentsOf,
    /** Where the events of an order and those of its payments disagree about its payments; empty if they agree. */
    bookDifferences: (orderId: string) => {
      const order = orderBookOf(orderId, streams.orders.eventsOf(orderId));
      const ids = [...order.entries.keys(), ...streams.paymentsOf(orderId).map(({ paymentId }) => paymentId)];
      return compareBooks(order, new Map(ids.map((id) => [id, paymentBookOf(streams.payments.eventsOf(id))])));
    },
    /** Whether the whole ledger of a payment was kept before its stream was deleted. */
    isLedgerKept: (paymentId: string): boolean => {
      const payment = streams.payments.lastOf(paymentId);
      return payment.status !== 'none' && keptLines.get(paymentId) === payment.postings.length;
    },
    /** Of the order, before it was deleted. */
    deletedPaymentsOf: ({ payments }: ExistingOrder): string[] =>
      payments.map(({ paymentId }) => paymentId).filter((id) => streams.payments.eventsOf(id) === null),
    stop: () => Promise.all([orders.app.close(), payments.app.close()]),
  };
};

interface ServiceOptions {
  readonly streams: MemoryStreams;
  readonly now: () => Date;
  readonly http: InternalClient;
  readonly log: Logger;
}

const ordersService = ({ streams, now, price, http, log }: ServiceOptions & { readonly price: () => string }) => {
  const { client, readModel } = streams;
  const handler = withOrderLog(streams.orders, log);
  const payments = paymentsClient(http);
  const project = async () => {};
  const commands = orderCommands({ handler, project, payments, log });
  const shared = {
    payablesOf: findPayables({ payments }),
    rateLockMaxMinutes: 1_440,
    assets: readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }),
    scales: SCALES,
    rates: {
      quote: async (_base: string, _currency: string, quotedAt: Date) => ({
        rate: price(),
        source: 'kraken',
        quotedAt,
      }),
    },
    now,
    endsBy: now,
  };
  const runDue = dueOrders({ ...shared, commands, awaitsChains: unreadChains({ payments, now, log }) });
  const deletion = orderDeletion({ client, handler, readModel, payments });
  const app = buildOrders({
    tokens: TOKENS,
    gate: { waitUntilOpen: async () => {} },
    currencies: async () => ({ payment_currencies: [] }),
    create: orderCreation({
      ...shared,
      handler,
      project,
      earlierCreates: async () => null,
      toleranceBpsOf: async () => 0,
    }),
    commands,
    handler,
    changes: orderChanges({ ...shared, commands, handler, payments }),
    deletion,
    refundOrder: orderRefunding({ commands, handler, payments, now, log }),
    runDue,
    history: orderHistory({ client, readModel }),
    sandbox: true,
    now,
    log,
    checks: {},
  });
  return { app, runDue, deletion, react: reactToPayments({ commands, payments, now }) };
};

const SCALES = scalesOf({ CAZ_DECIMALS: 18 });
const FEES = FeeSchedule.parse({
  version: '1',
  rails: { gateway_pay: { percent_bps: 50 }, crypto_deposit: { percent_bps: 100 } },
});

/** The chain behind the payment page of every order. */
export const SHOWN_CHAIN = 'eip155:1';

const PAGE: AssignedInstruction = {
  rail: 'gateway_pay',
  currency: 'USDC',
  provider: 'sandbox',
  paymentReference: 'REF',
  paymentUrl: 'http://127.0.0.1:4000/pay/REF',
  deposits: [
    {
      network: 'ethereum',
      chainId: SHOWN_CHAIN,
      asset: `${SHOWN_CHAIN}/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48`,
      address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      decimals: 6,
      currencyDecimals: 6,
      requiredConfirmations: 12,
      derivation: { fingerprint: '3442193e', path: '0/17' },
    },
  ],
};

const withSmallestPayable = (instruction: AssignedInstruction, minor: string | undefined): AssignedInstruction =>
  minor !== undefined && instruction.rail === 'gateway_pay'
    ? { ...instruction, deposits: instruction.deposits!.map((each) => ({ ...each, smallestPayableMinor: minor })) }
    : instruction;

const notCalled = async () => {
  throw new Error('not called here');
};

const paymentsService = ({
  streams,
  now,
  instruction,
  http,
  keptLines,
  log,
}: ServiceOptions & {
  readonly instruction: () => AssignedInstruction;
  readonly keptLines: Map<string, number>;
}) => {
  const { client, readModel } = streams;
  const handler = withPaymentLog(streams.payments, log);
  const commands = paymentCommands({ handler, project: async () => {} });
  const deletePayments = paymentDeletion({
    ...{ client, handler, readModel },
    keepLedger: async ({ paymentId, postings }) => void keptLines.set(paymentId, postings.length),
  });
  const orders = ordersClient(http);
  const notifyOrder = orderNotifier({
    commands,
    orders,
    isOrderRecorded: async (orderId) => !['none', 'deleted'].includes(streams.orders.lastOf(orderId).status),
    now,
  });
  const refunds = orderRefunds({ commands, notifyOrder, now, log });
  const app = buildPayments({
    tokens: TOKENS,
    sandbox: true,
    gate: { waitUntilOpen: async () => {} },
    availability: notCalled,
    instructions: async () => ({ instructions: [instruction()] }),
    stock: async () => ({ addresses: {}, references: null }),
    register: registerPayments({
      commands,
      notifyOrder,
      scales: SCALES,
      findPayable: async () => null,
      findOrder: async (orderId) => {
        const order = streams.orders.lastOf(orderId);
        if (order.status === 'none') return null;
        if (order.status === 'deleted') return { merchantId: order.lastState.merchantId };
        const { merchantId, externalReferenceId, metadata } = order;
        return { merchantId, reference: { externalReferenceId, ...(metadata && { metadata }) } };
      },
      hadFailedAtDeletion: async (orderId, paymentId) => {
        const order = streams.orders.lastOf(orderId);
        const held = order.status === 'deleted' ? order.lastState.payments : [];
        return held.some((each) => each.paymentId === paymentId && each.status === 'failed');
      },
      fees: FEES,
      now,
    }),
    receiveCallback: receiveCallbacks({ providers: [], record: async () => Promise.reject(new Error('no provider')) }),
    askLast: notCalled,
    pageAddresses: notCalled,
    changes: paymentChanges({ commands, notifyOrder, table: MAINNETS, now, log }),
    orderRefunds: refunds,
    requestedRefunds: { request: notCalled, paymentRequest: notCalled, cancel: notCalled },
    refundClaims: { issue: notCalled, show: notCalled, check: notCalled, confirm: notCalled },
    commands,
    deletePayments,
    unsettledPayment: async (orderId, heldByOrder) => {
      const unsettled = streams
        .paymentsOf(orderId)
        .find(({ paymentId, status }) => ['received', 'orphan'].includes(status) && !heldByOrder.includes(paymentId));
      return { payment_id: unsettled?.paymentId ?? null };
    },
    paymentIdsOf: async (orderId) => streams.paymentsOf(orderId).map(({ paymentId }) => paymentId),
    readStatusOf: async () => 'reported',
    history: paymentHistory({ client, readModel }),
    depositSettings: { show: notCalled, change: notCalled },
    log,
    checks: {},
  });
  return { app, react: reactToOrders({ commands, deletePayments, recordOrderRefund: refunds.record }) };
};

/** False when the work was refused or its dependency is unavailable: then it is retried later. */
const succeeds = async (work: Promise<unknown>): Promise<boolean> => {
  try {
    await work;
    return true;
  } catch (error) {
    if (!isAppError(error)) throw error;
    return false;
  }
};
