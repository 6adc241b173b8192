import { PAYMENT_STREAM_PREFIX } from '@cpg/contracts';
import { createPool, migrate, transaction } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger, newId } from '@cpg/platform';
import { verifyCounts } from '@cpg/operations';
import { type AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { MIGRATIONS } from '../migrations.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import type { ExistingPayment } from '../payment/state.ts';
import { CHANGED_AT_ISO, paymentReceived } from '../testing/jest-payment-events.ts';
import { paymentCounts, paymentProjection } from './payment-projection.ts';
import { paymentWriter, projectPayments } from './payment-rows.ts';

const ROUNDS = 20;
const PAYMENTS = 24;
const INSTANCES = 3;
const log = createLogger({ name: 'test', level: 'silent' });

/** A payment right after its receipt, and after a refund. */
const statesOf = (paymentId: string): [ExistingPayment, ExistingPayment] => {
  const received = paymentDecider.evolve(paymentDecider.initial, paymentReceived({ paymentId })) as ExistingPayment;
  const refundId = paymentId.replace('pay_', 'rfd_');
  const refund = { refundId, status: 'recorded', amountMinor: received.amountMinor, at: CHANGED_AT_ISO } as const;
  return [received, { ...received, status: 'refunded', refundedMinor: received.amountMinor, refunds: [refund] }];
};

const entry = (paymentId: string, revision: number, type: string): AllStreamResolvedEvent =>
  ({ event: { streamId: paymentStreamOf(paymentId), revision: BigInt(revision), type } }) as never;

test('requests that write and delete payments and projections of the same payments never deadlock', async () => {
  const database = await testDatabase();
  const pool = createPool({
    url: database.url,
    name: 'test',
    max: 16,
    settings: { deadlock_timeout: '50ms' },
    log,
  });
  await migrate(pool, MIGRATIONS);
  const projection = paymentProjection(EventStoreDBClient.connectionString`esdb://unused?tls=false`, {
    add: () => {},
    find: ({ event }) => ({
      recorded: { revision: 1 } as never,
      state: statesOf(event!.streamId.slice(PAYMENT_STREAM_PREFIX.length))[1],
    }),
    stateAfter: () => null,
  });
  const writers = Array.from({ length: INSTANCES }, () => paymentWriter(pool));

  const deleted: string[] = [];
  const kept: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const ids = Array.from({ length: PAYMENTS }, () => newId('payment'));
    await projectPayments(
      pool,
      ids.map((id) => ({ payment: statesOf(id)[0], revision: 0 })),
    );
    const isDeleted = (n: number) => n % 3 === 0;
    deleted.push(...ids.filter((_, n) => isDeleted(n)));
    kept.push(...ids.filter((_, n) => !isDeleted(n)));
    const projectShard = (shard: number) => {
      const events = ids
        .map((id, n) => (isDeleted(n) ? entry(id, 2, '$streamDeleted') : entry(id, 1, 'PaymentRefunded')))
        .filter((_, n) => n % INSTANCES === (shard + (n % 2)) % INSTANCES)
        .reverse();
      return transaction(pool, (db) => projection.apply(db, events, 'payments'));
    };
    await Promise.all([
      ...writers.map((_, shard) => projectShard(shard)),
      ...ids.map((id, n) => writers[n % INSTANCES]!({ payment: statesOf(id)[1], revision: 1 })),
      ...ids
        .filter((_, n) => isDeleted(n))
        .map((paymentId) =>
          transaction(pool, (db) => projectPayments(db, [{ payment: { status: 'deleted', paymentId }, revision: 0 }])),
        ),
    ]);
  }

  const { rows } = await pool.query<{ id: string; deleted: boolean; refunds: number }>(
    `select id, deleted, (select count(*)::int from payments.refunds where payment_id = payments.id) as refunds
     from payments.payments order by deleted, id`,
  );
  expect(rows).toEqual([
    ...kept.sort().map((id) => ({ id, deleted: false, refunds: 1 })),
    ...deleted.sort().map((id) => ({ id, deleted: true, refunds: 0 })),
  ]);
  expect(await verifyCounts(pool, { schema: 'payments', counts: paymentCounts })).toEqual({
    differ: 0,
    differences: [],
  });
  await pool.end();
  expect(await database.deadlocks()).toBe(0);
  await database.drop();
});
