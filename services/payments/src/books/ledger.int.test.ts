import type { Pool } from '@cpg/platform/postgres';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { MIGRATIONS } from '../migrations.ts';
import { verifyLedger } from './ledger.ts';

let pool: Pool;
let stop: () => Promise<void>;
beforeEach(async () => ({ pool, stop } = await migratedDatabase(MIGRATIONS)));
afterEach(() => stop());

const post = (entry: string, line: number, account: string, amount: string, currency = 'USDC') =>
  pool.query(
    `insert into payments.postings (id, payment_id, merchant_id, order_id, currency, account, amount, event, payment_created_at, created_at)
     values ($1, 'pay_1', 'mer_1', 'ord_1', $2, $3, $4, 'payment.received', now(), now())`,
    [`${entry}_0${line}`, currency, account, amount],
  );

test('says nothing of an empty ledger', async () => {
  expect(await verifyLedger(pool)).toEqual({ lines: [], faults: 0 });
});

test('sums accounts, in their order, by currency', async () => {
  await post('pay_1_000001', 1, 'payer', '-10.500000');
  await post('pay_1_000001', 2, 'received', '10.500000');
  await post('pay_1_000002', 1, 'received', '-10.500000');
  await post('pay_1_000002', 2, 'net', '10.395000');
  await post('pay_1_000002', 3, 'fee', '0.105000');
  await post('pay_2_000001', 1, 'payer', '-0.00000001', 'BTC');
  await post('pay_2_000001', 2, 'received', '0.00000001', 'BTC');
  expect(await verifyLedger(pool)).toEqual({
    lines: [
      'ledger in BTC: payer -0.00000001, received 0.00000001',
      'ledger in USDC: payer -10.500000, received 0.000000, net 10.395000, fee 0.105000',
      'ledger: every entry adds up to 0',
    ],
    faults: 0,
  });
});

test('names an entry that does not add up to zero, also if the ledger does', async () => {
  await post('pay_1_000001', 1, 'payer', '-10.000000');
  await post('pay_1_000001', 2, 'received', '1.000000');
  await post('pay_1_000002', 1, 'received', '9.000000');
  expect(await verifyLedger(pool)).toEqual({
    lines: [
      'ledger in USDC: payer -10.000000, received 10.000000',
      'pay_1_000001: the lines of this entry add up to -9.000000, not to 0',
      'pay_1_000002: the lines of this entry add up to 9.000000, not to 0',
    ],
    faults: 2,
  });
});
