import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NewPaymentEvent, PaymentEvent, RegisteredPayment } from '@cpg/contracts';
import { startEventStore } from '@cpg/embedded-eventstore';
import { commandHandler, connectEventStore, readStream } from '@cpg/event-store';
import { createPool, migrate, testDatabase } from '@cpg/postgres';
import { createLogger, internalClient, newId } from '@cpg/runtime';
import { startProjection } from '@cpg/stream-relay';
import { buildApp } from '../app.ts';
import { paymentChanges } from '../changes.ts';
import { ordersClient } from '../clients/orders.ts';
import { paymentCommands } from '../commands.ts';
import { forgetPayments } from '../deletion.ts';
import { paymentHistory } from '../history.ts';
import { instructionsFrom } from '../instructions.ts';
import { registerPayments } from '../matching.ts';
import { FeeSchedule } from '../payment/fees.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import { paymentProjection } from '../projections/payment-projection.ts';
import { projectPayments } from '../projections/payments.ts';
import { orderOfAddress } from '../rails/crypto-deposit.ts';
import { orderTeller } from '../telling.ts';
import { type Decide, startOrdersStub } from './jest-orders-stub.ts';

const TOKEN = 'a-token-that-services-share-in-tests';
const SERVICE = join(import.meta.dirname, '../..');

export const MERCHANT = newId('merchant');
/** When the stub of orders decided: after whatever the clock says. */
export const DECIDED_AT = '2126-01-31T12:00:00.000Z';
export const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

export const applied: Decide = ({ paymentId, amountMinor }) => ({
  status: 'applied',
  payment_id: paymentId,
  applied_minor: amountMinor,
  unapplied_minor: '0',
  at: DECIDED_AT,
});
export const held: Decide = ({ paymentId }) => ({ status: 'received', payment_id: paymentId });

export type PaymentsService = Awaited<ReturnType<typeof startPayments>>;

/** The service without Kafka: its HTTP interface and its catch-up, against a real event store and PostgreSQL, and a stub of orders. */
export const startPayments = async () => {
  const log = createLogger({ name: 'payments', level: process.env.LOG_LEVEL ?? 'silent' });
  const [database, forEvents] = await Promise.all([testDatabase(), testDatabase()]);
  const eventStore = await startEventStore({ databaseUrl: forEvents.url, port: 0 });
  const stub = await startOrdersStub();
  const client = connectEventStore(eventStore.url);
  const pool = createPool({ url: database.url, name: 'payments-test', asyncCommit: true, log });
  await migrate(pool, { schema: 'payments', folder: join(SERVICE, 'migrations') });
  const http = internalClient({ name: 'orders', url: stub.url, token: TOKEN });
  const anotherHandler = () =>
    commandHandler({
      client,
      decider: paymentDecider,
      schema: PaymentEvent,
      newEvent: NewPaymentEvent,
      streamOf: paymentStreamOf,
    });
  const handler = anotherHandler();
  const commands = paymentCommands({ handler, project: (projected) => projectPayments(pool, [projected]) });
  const forget = forgetPayments({ client, handler, readModel: pool });
  const fees = FeeSchedule.parse(JSON.parse(readFileSync(join(SERVICE, 'config/fees.json'), 'utf8')));
  const now = () => new Date();
  const orders = ordersClient(http);
  const tellOrder = orderTeller({ commands, orders, now });
  const app = buildApp({
    token: TOKEN,
    instructions: instructionsFrom([]),
    register: registerPayments({
      commands,
      orders,
      tellOrder,
      orderOfAddress: (address) => orderOfAddress(pool, address),
      fees,
      now,
      log,
    }),
    changes: paymentChanges({ commands, tellOrder, now, log }),
    commands,
    forget,
    history: paymentHistory({ client, readModel: pool }),
    log,
    checks: {},
  });
  const follower = { client, pool, databaseUrl: database.url, log };
  const projection = startProjection({ ...follower, projection: paymentProjection(client) });

  const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-actor': CONTEXT.actor, 'x-request-id': CONTEXT.requestId };
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: response.statusCode, body: response.body === '' ? null : response.json<unknown>() };
  };

  return {
    stub,
    client,
    pool,
    handler,
    /** As another process has one, with a memory of its own. */
    anotherHandler,
    commands,
    forget,
    app,
    follower,
    log,
    call,
    /** Reports money, which must be taken. */
    register: async (body: object) => {
      const { status, body: answer } = await call('POST', '/payments', body);
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(answer)}`);
      return RegisteredPayment.parse(answer);
    },
    /** An order of MERCHANT that decides like this. */
    orderThat: (decide: Decide) => {
      const id = newId('order');
      stub.add(id, MERCHANT, decide);
      return id;
    },
    giveAddress: async (orderId: string, address: string) => {
      await pool.query(
        `with account as (insert into payments.deposit_accounts as held values ('a', 1)
         on conflict (account) do update set next_index = held.next_index + 1 returning *)
         insert into payments.deposit_addresses select $1, 'ethereum', account, next_index, $2 from account`,
        [orderId, address],
      );
    },
    typesOf: async (paymentId: string) =>
      (await readStream(client, paymentStreamOf(paymentId), PaymentEvent))?.map(({ event }) => event.type),
    rowOf: async (paymentId: string) =>
      (await pool.query('select * from payments.payments where id = $1', [paymentId])).rows[0],
    /** What rebuilding and verifying the read model take. */
    shadowTableOptions: () => ({
      client,
      databaseUrl: database.url,
      projection: paymentProjection(client),
      migrations: join(SERVICE, 'migrations'),
      signal: new AbortController().signal,
    }),
    stop: async () => {
      await app.close();
      await projection.stop();
      await http.close();
      await client.dispose();
      await Promise.all([eventStore.stop(), stub.stop()]);
      await pool.end();
      await Promise.all([database.drop(), forEvents.drop()]);
    },
  };
};

let hashes = 0;
/** A report of 10 USDC, other money each time. */
export const money = (orderId: string, changes: object = {}) => {
  hashes += 1;
  return {
    order_id: orderId,
    rail: 'gateway_pay' as const,
    provider_id: `tx-${hashes}`,
    amount: '10',
    currency: 'USDC' as const,
    confirmed: true,
    ...changes,
  };
};

/** Looks until there is something to see. */
export const until = async <T>(
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
): Promise<T> => {
  for (;;) {
    const found = await look();
    if (found) return found;
    await sleep(20);
  }
};
