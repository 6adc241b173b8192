import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PaymentEvent } from '@cpg/contracts';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { EventStoreDBClient } from '@eventstore/db-client';
import { MIGRATIONS } from '../migrations.ts';
import { paymentDecider } from '../payment/payment.ts';
import { exists, type Payment } from '../payment/state.ts';
import { streamsByRelease } from '../testing/jest-recorded.ts';
import { paymentProjection } from './payment-projection.ts';
import { projectPayments } from './payment-rows.ts';

const { version, tables } = paymentProjection(EventStoreDBClient.connectionString`esdb://unused?tls=false`);

/** The SHA-256 of each row of the recorded payments and their refunds, as the projection's version makes it. */
const FILE = join(import.meta.dirname, `../testing/projected-rows.v${version}.json`);

// When this fails, increment `version` of the projection and add a file for it: the rows of running installations are
// rebuilt only for a new version. A file never changes, except that recorded payments are added.
test('the rows of recorded payments change only with the version of the projection', async () => {
  const { pool, stop } = await migratedDatabase(MIGRATIONS);
  for (const { events } of streamsByRelease().flatMap(([, streams]) => streams)) {
    let payment: Payment = paymentDecider.initial;
    for (const { type, data, revision } of events) {
      payment = paymentDecider.evolve(payment, PaymentEvent.parse({ type, data }));
      if (exists(payment)) await projectPayments(pool, [{ payment, revision }]);
    }
  }
  const rows: { id: string }[] = [];
  for (const table of tables) {
    rows.push(...(await pool.query<{ id: string }>(`select * from payments.${table} order by id collate "C"`)).rows);
  }
  await stop();
  const digests = rows.map((row) => [row.id, createHash('sha256').update(JSON.stringify(row)).digest('hex')]);
  expect(Object.fromEntries(digests)).toEqual(JSON.parse(readFileSync(FILE, 'utf8')));
});
