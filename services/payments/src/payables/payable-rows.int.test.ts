import type { Pool } from '@cpg/platform/postgres';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { MIGRATIONS } from '../migrations.ts';
import { logEntry } from '../testing/jest-log-entries.ts';
import { deposit as depositAt, page as pageOf } from '../testing/jest-order-events.ts';
import {
  addressDetails,
  isDepositAddress,
  knownAddresses,
  newestAddresses,
  watchForGood,
} from './deposit-addresses.ts';
import { payableProjection } from './payable-projection.ts';

let database: Awaited<ReturnType<typeof migratedDatabase>>;
let pool: Pool;
beforeAll(async () => {
  database = await migratedDatabase(MIGRATIONS);
  pool = database.pool;
});
afterAll(() => database.stop());
const TABLES = [
  'payables',
  'reserved_indexes',
  'derivation_ends',
  'deposit_addresses',
  'payment_references',
  'unshown_addresses',
  'checkpoints',
  'chain_cursors',
  'chain_transfers',
].map((table) => `payments.${table}`);
beforeEach(() => pool.query(`truncate ${TABLES.join(', ')} cascade`));

const MERCHANT = 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K';
const DAY_MS = 86_400_000;
const NOON = Date.parse('2026-01-31T12:00:00.000Z');
const at = (ms: number) => new Date(NOON + ms);
const orderId = (n: number) => `ord_${String(n).padStart(26, '0')}`;
const addressOf = (n: number) => `0xA${n}`;

const deposit = (n: number, changes: object = {}) => ({
  ...depositAt(addressOf(n), n, 'ethereum'),
  asset: 'eip155:1/slip44:60',
  derivation: { fingerprint: '3442193e', path: `0/${n}` },
  ...changes,
});
const page = { ...pageOf('REF'), provider: 'acme' };

/** An event of the n-th order. */
const ofOrder = (n: number, type: string, data: object = {}, ms = 0) =>
  logEntry(`order-${orderId(n)}`, type, { ...data, at: at(ms).toISOString() });
const created = (n: number, { instructions = [deposit(n)], ms = 0 }: { instructions?: object[]; ms?: number } = {}) =>
  ofOrder(
    n,
    'OrderCreated',
    { orderId: orderId(n), merchantId: MERCHANT, instructions, status: 'awaiting_payment' },
    ms,
  );
const deleted = (n: number, ms: number) => {
  const { network, address, derivation } = deposit(n);
  const payables = [{ rail: 'crypto_deposit', network, address, derivation }];
  const data = {
    orderId: orderId(n),
    merchantId: MERCHANT,
    actor: 'a',
    lastHash: 'h',
    sequence: 3,
    payables,
    paymentIds: [],
  };
  return logEntry(`deletion-${orderId(n)}`, 'OrderDeletionRecorded', { ...data, at: at(ms).toISOString() });
};
const reserved = (revision: number, data: { first: number; count: number; again?: number[]; skipped?: boolean }) =>
  logEntry(
    'account-3442193e',
    'DerivationIndexesReserved',
    { account: '3442193e', again: [], ...data, at: at(0).toISOString() },
    { revision },
  );
const project = (...events: ReturnType<typeof logEntry>[]) =>
  payableProjection({} as never).apply(pool, events, 'payments');

const known = async (among: number[], { from = null, ms = 0 }: { from?: string | null; ms?: number } = {}) =>
  (await knownAddresses(pool, { among: among.map(addressOf), from, at: at(ms) }))
    ?.map(({ address }) => address)
    .sort() ?? null;

test('an order shows its addresses, and a page its reference too', async () => {
  await project(created(1), created(2, { instructions: [{ ...page, deposits: [deposit(2)] }] }));
  const { rows } = await pool.query('select * from payments.payables order by id');
  const common = { merchant_id: MERCHANT, currency: 'USDC', assigned_at: at(0), ended_at: null, deleted: false };
  const onChain = { network: 'ethereum', asset: 'eip155:1/slip44:60', account: '3442193e' };
  const nowhere = { network: null, address: null, account: null, index: null };
  expect(rows).toMatchObject([
    {
      ...common,
      ...onChain,
      id: `${orderId(1)}/ethereum`,
      order_id: orderId(1),
      address: '0xA1',
      index: '1',
      hosted: false,
    },
    { ...common, ...nowhere, id: `${orderId(2)}/acme`, provider: 'acme', reference: 'REF', rail: 'gateway_pay' },
    { ...common, ...onChain, id: `${orderId(2)}/acme/ethereum`, address: '0xA2', reference: null, hosted: true },
  ]);
});

test('an index is reserved until an order shows its address', async () => {
  const rows = async () => {
    const indexes = await pool.query<{ id: string; revision: string; skipped: boolean }>(
      'select id, revision, skipped from payments.reserved_indexes order by id',
    );
    const ends = await pool.query<{ next: string }>('select next from payments.derivation_ends');
    return [
      indexes.rows.map(({ id, revision, skipped }) => [id, Number(revision), skipped]),
      Number(ends.rows[0]!.next),
    ];
  };
  await project(reserved(0, { first: 1, count: 2 }), reserved(1, { first: 3, count: 1, again: [2], skipped: true }));
  expect(await rows()).toEqual([
    [
      ['3442193e/1', 0, false],
      ['3442193e/2', 1, false],
      ['3442193e/3', 1, true],
    ],
    4,
  ]);
  // The log is read again after a crash.
  await project(reserved(0, { first: 1, count: 2 }), created(3));
  expect(await rows()).toEqual([
    [
      ['3442193e/1', 0, false],
      ['3442193e/2', 1, false],
    ],
    4,
  ]);
});

describe('the end of an order', () => {
  const endsOf = async () => {
    const { rows } = await pool.query<{ ended_at: Date | null }>('select ended_at from payments.payables order by id');
    return rows.map(({ ended_at }) => ended_at);
  };

  test.each([
    ['OrderPaid', {}, true],
    ['OrderExpired', { status: 'expired' }, true],
    ['OrderExpired', { status: 'partially_paid_expired' }, true],
    ['OrderCanceled', { status: 'canceled' }, true],
    ['OrderPaymentsApplied', { status: 'partially_paid' }, false],
    ['OrderUpdated', {}, false],
  ])('is that of %s %j, of no other order', async (type, data, isEnd) => {
    await project(created(1), created(2), created(3));
    await project(ofOrder(2, type, data, 1_000));
    expect(await endsOf()).toEqual([null, isEnd ? at(1_000) : null, null]);
  });
  test('is taken back when its money is lost', async () => {
    await project(created(1), ofOrder(1, 'OrderPaid', {}, 1_000));
    await project(ofOrder(1, 'OrderPaymentFailed', { status: 'reversed' }, 2_000));
    expect(await endsOf()).toEqual([null]);
  });
  test('is that of its deletion, which keeps where it could be paid', async () => {
    await project(created(1), created(2));
    await project(deleted(1, 5_000));
    const { rows } = await pool.query('select * from payments.payables order by id');
    expect(rows).toMatchObject([
      { address: '0xA1', currency: null, asset: null, assigned_at: null, deleted: true, ended_at: at(5_000) },
      { address: '0xA2', currency: 'USDC', deleted: false, ended_at: null },
    ]);
  });
});

describe('an address', () => {
  const transfer = (network: string, n: number) =>
    pool.query(
      `insert into payments.chain_transfers (network, id, address, asset, units, seen_at)
       values ($1, 'tx', $2, 'eip155:1/slip44:60', 1, $3)`,
      [network, addressOf(n), at(0)],
    );

  test('of an order is watched until 90 days after its end', async () => {
    await project(created(1), created(2), ofOrder(1, 'OrderPaid'));
    expect(await known([1, 2, 3], { ms: 90 * DAY_MS - 1 })).toEqual(['0xA1', '0xA2']);
    expect(await known([1], { ms: 90 * DAY_MS - 1 })).toEqual(['0xA1']);
    expect(await known([1, 2, 3], { ms: 90 * DAY_MS })).toEqual(['0xA2']);
  });
  test('that received money is watched for good, on a network that is read', async () => {
    await project(created(1), created(2), ...[1, 2].map((n) => ofOrder(n, 'OrderPaid')));
    await transfer('ethereum', 1);
    expect(await known([1, 2], { ms: 90 * DAY_MS })).toEqual([]);
    await pool.query("insert into payments.chain_cursors (network) values ('ethereum')");
    expect(await known([1, 2], { ms: 90 * DAY_MS })).toEqual(['0xA1']);
    expect(await addressDetails(pool, '0xA1')).toMatchObject([
      { orderId: orderId(1), merchantId: MERCHANT, network: 'ethereum', index: 1, endedAt: at(0), isWatched: true },
    ]);
  });
  test('that an operator watches for good does not retire, and no other one', async () => {
    await project(created(1), created(2), ...[1, 2].map((n) => ofOrder(n, 'OrderPaid')));
    await watchForGood(pool, '0xA1');
    expect(await known([1, 2], { ms: 90 * DAY_MS })).toEqual(['0xA1']);
    expect((await addressDetails(pool, '0xA1')).map(({ isWatched }) => isWatched)).toEqual([true]);
    expect(await addressDetails(pool, '0xA3')).toEqual([]);
  });
  test('is one for deposits if an order shows or showed it, or was reserved for one, and no other one is', async () => {
    await project(created(1));
    await pool.query("insert into payments.unshown_addresses values ('0xA7', '3442193e', 7)");
    await pool.query(
      `insert into payments.deposit_addresses (order_id, network, account, index, address)
       values ('ord_1', 'ethereum', '3442193e', 9, '0xA9')`,
    );
    const areForDeposits = await Promise.all([1, 7, 9, 8].map((n) => isDepositAddress(pool, addressOf(n))));
    expect(areForDeposits).toEqual([true, true, true, false]);
  });
  test('that no order shows is known with its account and index', async () => {
    await pool.query("insert into payments.unshown_addresses values ('0xA7', '3442193e', 7), ('0xA8', '3442193e', 8)");
    expect(await knownAddresses(pool, { among: ['0xA7'], from: null, at: at(0) })).toEqual([
      { address: '0xA7', unshown: { account: '3442193e', index: 7 } },
    ]);
  });
  test('is unknown until its rows are written up to the position that is asked for', async () => {
    await project(created(1));
    const checkpoint = (name: string, position: number, retired = false) =>
      pool.query(
        `insert into payments.checkpoints (name, epoch, commit_position, retired_at)
         values ($1, 1, $2, case when $3 then now() end)`,
        [name, position, retired],
      );
    expect(await known([1], { from: '10' })).toBeNull();
    await checkpoint('payments', 99);
    expect(await known([1], { from: '10' })).toBeNull();
    await checkpoint('payables', 10);
    expect(await known([1], { from: '11' })).toBeNull();
    expect(await known([1], { from: '10' })).toEqual(['0xA1']);
    expect(await known([2], { from: '10' })).toEqual([]);
    await pool.query("update payments.checkpoints set retired_at = now() where name = 'payables'");
    expect(await known([1], { from: '10' })).toBeNull();
  });
});

test('the newest addresses are those of one network, of orders that are not deleted, after an instant', async () => {
  const elsewhere = deposit(4, { network: 'base' });
  await project(
    created(1),
    created(2, { ms: 1 }),
    created(3, { ms: 2, instructions: [page, deposit(3)] }),
    created(4, { ms: 3, instructions: [elsewhere] }),
    created(5, { ms: 4 }),
  );
  await project(deleted(5, 5));
  expect(await newestAddresses(pool, 'ethereum', at(0))).toEqual(['0xA3', '0xA2']);
  expect(await newestAddresses(pool, 'ethereum', at(1))).toEqual(['0xA3']);
  expect(await newestAddresses(pool, 'base', at(0))).toEqual(['0xA4']);
});
