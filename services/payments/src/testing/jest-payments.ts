import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AssignedInstruction, NewPaymentEvent, PaymentEvent, RegisteredPayment } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { type FaultOf, withFaults } from '@cpg/embedded-eventstore/testing';
import { commandHandler, connectEventStore, readStream, startProjection } from '@cpg/event-sourcing';
import { createLogger, internalClient, type Logger, newId } from '@cpg/platform';
import { createPool, migrate, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { merchantAccounts } from '../addresses/account-book.ts';
import { depositNetworksOf } from '../addresses/deposit-network.ts';
import { depositSettings } from '../addresses/merchant-settings.ts';
import { buildApp } from '../app.ts';
import { mostConfirmations } from '../chains/chain-kind.ts';
import { paymentHistory } from '../history.ts';
import { paymentChanges } from '../matching/changes.ts';
import { paymentCommands } from '../matching/commands.ts';
import { orderNotifier, type OrdersClient, ordersClient } from '../matching/notify-order.ts';
import { registerPayments } from '../matching/register.ts';
import { findPayable } from '../payables/find-payable.ts';
import { payableProjection } from '../payables/payable-projection.ts';
import { findOrder, hadFailedAtDeletion, isOrderRecorded, type KnownOrder } from '../payables/payable.ts';
import { FeeSchedule } from '../payment/fees.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import { lastQueries } from '../rails/gateway-pay/last-queries.ts';
import { pageAddresses } from '../rails/gateway-pay/page-addresses.ts';
import { receiveCallbacks } from '../rails/gateway-pay/provider-reports.ts';
import type { OutsideProvider } from '../rails/gateway-pay/provider.ts';
import { queryProvider, recordReports } from '../rails/gateway-pay/reported-payment.ts';
import { refundClaims } from '../refunds/refund-claims.ts';
import { refundDestinations } from '../refunds/refund-destination.ts';
import { orderRefunds } from '../refunds/order-refunds.ts';
import { requestedRefunds } from '../refunds/requested-refunds.ts';
import { paymentDeletion } from '../read/deletion.ts';
import { ledgerKeeper } from '../read/kept-ledger.ts';
import { paymentProjection } from '../read/payment-projection.ts';
import { paymentWriter, paymentIdsOf, unsettledPaymentOf } from '../read/payment-rows.ts';
import { CONTEXT, MERCHANT, tokenFor, TOKENS } from './jest-fixtures.ts';
import { orderEvents } from './jest-order-events.ts';
import type { Decide } from './jest-orders-stub-views.ts';
import { startOrdersStub } from './jest-orders-stub.ts';
import { SANDBOX, SCALES } from './jest-rails.ts';

const SERVICE = join(import.meta.dirname, '../..');

export type PaymentsService = Awaited<ReturnType<typeof startPayments>>;

/** The payments service without Kafka: its HTTP API and its projection, with a real event store and PostgreSQL, and a
 *  stub of orders. */
export const startPayments = async ({
  appendFaults,
  providers = [],
}: { appendFaults?: FaultOf; providers?: OutsideProvider[] } = {}) => {
  const log = createLogger({ name: 'payments', level: process.env.LOG_LEVEL ?? 'silent' });
  const [database, eventDatabase] = await Promise.all([testDatabase(), testDatabase()]);
  const eventStore = await startEventStore({
    databaseUrl: eventDatabase.url,
    port: 0,
    ...(appendFaults && { wrapWriter: withFaults(appendFaults) }),
  });
  const stub = await startOrdersStub();
  const client = connectEventStore(eventStore.url);
  const pool = createPool({ url: database.url, name: 'payments-test', asyncCommit: true, log });
  const migrations = join(SERVICE, 'migrations');
  await migrate(pool, { schema: 'payments', folder: migrations });
  const http = internalClient({ name: 'orders', url: stub.url, tokens: TOKENS.payments });
  const orderOf = async (id: string) => (stub.has(id) ? { merchantId: MERCHANT } : findOrder(client, id));
  let aheadMs = 0;
  const claimsEndBy = () => new Date(Date.now() + aheadMs);
  const service = buildService({ client, pool, orders: ordersClient(http), orderOf, providers, claimsEndBy, log });
  const events = orderEvents(client);
  const subscription = { client, pool, databaseUrl: database.url, log };
  const projection = startProjection({ ...subscription, projection: paymentProjection(client) });
  const call = caller(service.app);
  return {
    ...service,
    stub,
    client,
    pool,
    subscription,
    log,
    call,
    /** A second handler with its own cache, as in another process. */
    anotherHandler: () => handlerOn(client),
    /** Reports a payment and expects success. */
    register: async (body: object) => {
      const { status, body: answer } = await call('POST', '/payments', body);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(answer)}`);
      return RegisteredPayment.parse(answer);
    },
    /** Adds an order of MERCHANT to the stub. */
    addOrder: (decide: Decide) => {
      const id = newId('order');
      stub.add(id, MERCHANT, decide);
      return id;
    },
    events,
    /** Adds an order of MERCHANT to the stub and to the event store. */
    createOrder: async (decide: Decide, instructions?: AssignedInstruction[]) => {
      const id = newId('order');
      stub.add(id, MERCHANT, decide);
      await events.created(id, instructions);
      return id;
    },
    /** Moves the time by which claim links end. */
    advanceClaims: (ms: number) => void (aheadMs += ms),
    findPayable: findPayable({ client, readModel: pool, log }),
    startPayables: () => startProjection({ ...subscription, projection: payableProjection(client) }),
    typesOf: async (paymentId: string) =>
      (await readStream(client, paymentStreamOf(paymentId), PaymentEvent))?.map(({ event }) => event.type),
    rowOf: async (paymentId: string) =>
      (await pool.query('select * from payments.payments where id = $1', [paymentId])).rows[0],
    /** Arguments of `rebuild` and `verify`. */
    shadowTableOptions: (projection = paymentProjection(client)) => ({
      client,
      databaseUrl: database.url,
      projection,
      migrations,
      signal: new AbortController().signal,
    }),
    stop: async () => {
      await service.app.close();
      await projection.stop();
      await http.close();
      await client.dispose();
      await Promise.all([eventStore.stop(), stub.stop()]);
      await pool.end();
      await Promise.all([database.drop(), eventDatabase.drop()]);
    },
  };
};

const handlerOn = (client: EventStoreDBClient) =>
  commandHandler({
    client,
    decider: paymentDecider,
    schema: PaymentEvent,
    newEvent: NewPaymentEvent,
    streamOf: paymentStreamOf,
  });

interface Dependencies {
  readonly client: EventStoreDBClient;
  readonly pool: Pool;
  readonly orders: OrdersClient;
  readonly orderOf: (orderId: string) => Promise<KnownOrder | null>;
  readonly providers: readonly OutsideProvider[];
  /** The time by which claim links end. */
  readonly claimsEndBy: () => Date;
  readonly log: Logger;
}

const buildService = ({ client, pool, orders, orderOf, providers, claimsEndBy, log }: Dependencies) => {
  const now = () => new Date();
  const handler = handlerOn(client);
  const commands = paymentCommands({ handler, project: paymentWriter(pool) });
  const deletePayments = paymentDeletion({
    client,
    handler,
    readModel: pool,
    keepLedger: ledgerKeeper({ client, now }),
  });
  const fees = FeeSchedule.parse(JSON.parse(readFileSync(join(SERVICE, 'config/fees.json'), 'utf8')));
  const notifyOrder = orderNotifier({
    commands,
    orders,
    isOrderRecorded: (orderId) => isOrderRecorded(client, orderId),
    now,
  });
  const accounts = merchantAccounts({
    client,
    table: SANDBOX,
    networks: depositNetworksOf(SANDBOX),
    mostConfirmations,
    now,
  });
  const payableAt = findPayable({ client, readModel: pool, log });
  const registerPayment = registerPayments({
    commands,
    notifyOrder,
    findPayable: payableAt,
    findOrder: orderOf,
    hadFailedAtDeletion: (...payment) => hadFailedAtDeletion(client, ...payment),
    fees,
    scales: SCALES,
    now,
  });
  const changes = paymentChanges({ commands, notifyOrder, table: SANDBOX, now, log });
  const destinations = refundDestinations({ db: pool, readAccounts: accounts.read, table: SANDBOX });
  const record = recordReports({ register: registerPayment, log });
  const query = queryProvider({ record, log });
  const app = buildApp({
    gate: { waitUntilOpen: async () => {} },
    tokens: TOKENS,
    sandbox: true,
    availability: async () => ({ networks: {}, offers: { crypto_deposit: [], gateway_pay: [] } }),
    instructions: async () => ({ instructions: [] }),
    stock: async () => ({ addresses: {}, references: null }),
    register: registerPayment,
    receiveCallback: receiveCallbacks({ providers, record }),
    askLast: lastQueries({ providers, query, log }),
    pageAddresses: pageAddresses({
      client,
      findPayable: payableAt,
      readAccounts: accounts.read,
      table: { networks: [], assets: [] },
      log,
    }),
    changes,
    orderRefunds: orderRefunds({ commands, notifyOrder, now, log }),
    requestedRefunds: requestedRefunds({
      commands,
      notifyOrder,
      db: pool,
      destinations,
      table: SANDBOX,
      isWatched: (network) => ['ethereum-sepolia', 'bitcoin-testnet'].includes(network),
      now,
    }),
    refundClaims: refundClaims({
      commands,
      db: pool,
      destinations,
      table: SANDBOX,
      publicUrl: 'https://pay.test',
      now,
      endsBy: claimsEndBy,
    }),
    commands,
    deletePayments,
    unsettledPayment: (orderId, heldByOrder) => unsettledPaymentOf(pool, orderId, heldByOrder),
    paymentIdsOf: (orderId) => paymentIdsOf(pool, orderId),
    readStatusOf: async () => 'reported',
    history: paymentHistory({ client, readModel: pool }),
    depositSettings: depositSettings({ client, accounts, table: SANDBOX, environment: 'sandbox', log }),
    log,
    checks: {},
  });
  return { app, handler, commands, deletePayments, registerPayment, changes, query, orders };
};

const caller =
  (app: ReturnType<typeof buildApp>) => async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
    const headers = {
      authorization: `Bearer ${tokenFor(url)}`,
      'x-actor': CONTEXT.actor,
      'x-request-id': CONTEXT.requestId,
    };
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: response.statusCode, body: response.body === '' ? null : response.json<unknown>() };
  };
