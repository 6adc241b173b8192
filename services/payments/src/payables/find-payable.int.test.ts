import { newId } from '@cpg/platform';
import { rebuild, verify } from '@cpg/operations';
import { payableProjection } from './payable-projection.ts';
import { applied, MERCHANT, report, until } from '../testing/jest-fixtures.ts';
import { deposit, hostedPage, page } from '../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';

let payments: PaymentsService;
let projecting: ReturnType<PaymentsService['startPayables']> | undefined;

beforeAll(async () => {
  payments = await startPayments();
});

afterAll(async () => {
  await projecting?.stop();
  await payments.stop();
});

const rowsOf = async (orderId: string) =>
  (
    await payments.pool.query(
      `select network, address, account, index::int, provider, reference, currency, deleted
       from payments.payables where order_id = $1 order by id`,
      [orderId],
    )
  ).rows;

test('finds an order before its row is written, by address and by reference', async () => {
  const orderId = await payments.createOrder(applied, [deposit('0xA1', 1), page('REFA1')]);
  const owner = { orderId, merchantId: MERCHANT };
  expect(await payments.findPayable({ address: '0xA1' })).toEqual({ ...owner, rail: 'crypto_deposit' });
  expect(await payments.findPayable({ reference: 'REFA1' })).toEqual({ ...owner, rail: 'gateway_pay' });
  expect(await payments.findPayable({ address: 'REFA1' })).toBeNull();
  expect(await rowsOf(orderId)).toEqual([]);
});

test('finds the order of instructions that came later', async () => {
  const orderId = await payments.createOrder(applied);
  await payments.events.instructed(orderId, [deposit('0xA2', 2)]);
  expect(await payments.findPayable({ address: '0xA2' })).toMatchObject({ orderId, merchantId: MERCHANT });
});

test('records a payment to an address while orders is unavailable, for the merchant of the order', async () => {
  const orderId = await payments.createOrder(applied, [deposit('0xA3', 3)]);
  payments.stub.setUnavailable(true);
  const body = report(orderId, { order_id: undefined, address: '0xA3' });
  expect(await payments.call('POST', '/payments', body)).toMatchObject({
    status: 503,
    body: { code: 'outcome_unknown' },
  });
  const { rows } = await payments.pool.query('select merchant_id, status from payments.payments where order_id = $1', [
    orderId,
  ]);
  expect(rows).toEqual([{ merchant_id: MERCHANT, status: 'received' }]);
  payments.stub.setUnavailable(false);
  expect((await payments.register(body)).payment).toMatchObject({ order_id: orderId, status: 'applied' });
});

test('writes one row per network and provider', async () => {
  projecting = payments.startPayables();
  const orderId = await payments.createOrder(applied, [deposit('0xA4', 4), deposit('0xA5', 5, 'base'), page('REFA4')]);
  const rows = await until(async () => {
    const found = await rowsOf(orderId);
    return found.length === 3 && found;
  });
  const none = { network: null, address: null, account: null, index: null, provider: null, reference: null };
  const common = { ...none, currency: 'USDC', deleted: false };
  expect(rows).toEqual([
    { ...common, network: 'base', address: '0xA5', account: 'f00dcafe', index: 5 },
    { ...common, network: 'ethereum-sepolia', address: '0xA4', account: 'f00dcafe', index: 4 },
    { ...common, provider: 'sandbox', reference: 'REFA4' },
  ]);
  expect(await payments.findPayable({ address: '0xA5' })).toMatchObject({ orderId, merchantId: MERCHANT });
});

test('finds a deleted order, whose row says no more of what it was for', async () => {
  const orderId = await payments.createOrder(applied, [deposit('0xA6', 6)]);
  await payments.events.deleted(orderId, [deposit('0xA6', 6)]);
  const [row] = await until(async () => {
    const found = await rowsOf(orderId);
    return found[0]?.deleted && found;
  });
  expect(row).toMatchObject({ address: '0xA6', currency: null });
  payments.stub.remove(orderId);
  const { payment } = await payments.register(report(orderId, { order_id: undefined, address: '0xA6' }));
  expect(payment).toMatchObject({ order_id: orderId, merchant_id: MERCHANT, orphan_reason: 'unknown_order' });
});

test('a provider takes no page of this gateway by giving its reference to another order', async () => {
  const taken = { ...page('REFB1'), provider: 'acme' };
  await payments.createOrder(applied, [taken]);
  const orderId = await payments.createOrder(applied, [page('REFB1')]);
  await payments.createOrder(applied, [taken]);
  const found = () => payments.findPayable({ reference: 'REFB1' });
  expect(await found()).toMatchObject({ orderId });
  await until(async () => {
    const { rowCount } = await payments.pool.query("select from payments.payables where reference = 'REFB1'");
    return rowCount === 3;
  });
  expect(await found()).toMatchObject({ orderId });
});

test('finds an address that no event shows', async () => {
  const orderId = newId('order');
  await payments.pool.query(
    "insert into payments.deposit_addresses (order_id, network, account, index, address) values ($1, 'n', 'digest', 9, '0xA9')",
    [orderId],
  );
  const owner = { orderId, merchantId: null, rail: 'crypto_deposit' };
  expect(await payments.findPayable({ address: '0xA9' })).toEqual(owner);
});

test('finds the address behind a payment page with the rail of the page, before and after its row is written', async () => {
  const orderId = await payments.createOrder(applied, [deposit('0xC1', 31), hostedPage('REFC1', '0xC2', 32)]);
  const owner = { orderId, merchantId: MERCHANT };
  const find = async () => [
    await payments.findPayable({ address: '0xC1' }),
    await payments.findPayable({ address: '0xC2' }),
  ];
  const both = [
    { ...owner, rail: 'crypto_deposit' },
    { ...owner, rail: 'gateway_pay' },
  ];
  expect(await find()).toEqual(both);
  await until(async () => (await rowsOf(orderId)).length === 3);
  expect(await find()).toEqual(both);
  await payments.events.deleted(orderId, [deposit('0xC1', 31), hostedPage('REFC1', '0xC2', 32)]);
  await until(async () => (await rowsOf(orderId)).every(({ deleted }) => deleted));
  expect(await find()).toEqual(both);
});

test('records money at the address of a page as gateway_pay, with the fee of that rail', async () => {
  const orderId = await payments.createOrder(applied, [hostedPage('REFC5', '0xC5', 35)]);
  const body = { ...report(orderId), order_id: undefined, address: '0xC5', rail: 'crypto_deposit' as const };
  const { payment } = await payments.register(body);
  const recorded = { order_id: orderId, payment_rail: 'gateway_pay', status: 'applied', fee_amount: '0.050000' };
  expect(payment).toMatchObject(recorded);
  expect((await payments.register(body)).payment.id).toBe(payment.id);
});

test('credits no order when two of them show one address', async () => {
  const orders = [
    await payments.createOrder(applied, [deposit('0xAA')]),
    await payments.createOrder(applied, [deposit('0xAA')]),
  ];
  await until(async () => (await rowsOf(orders[1]!)).length);
  expect(await payments.findPayable({ address: '0xAA' })).toBeNull();
});

const UNAVAILABLE = { code: 'dependency_unavailable' };

test('an order that cannot be read hides only its own address and reference', async () => {
  const readable = await payments.createOrder(applied, [deposit('0xD1', 41)]);
  const damaged = [
    { ...deposit('0xD2', 42), derivation: null },
    { ...page('REFD2'), currency: 7 },
  ];
  const orderId = newId('order');
  await payments.events.created(orderId, damaged as never);
  const later = await payments.createOrder(applied, [deposit('0xD3', 43)]);
  const check = async () => {
    expect(await payments.findPayable({ address: '0xD1' })).toMatchObject({ orderId: readable });
    expect(await payments.findPayable({ address: '0xD3' })).toMatchObject({ orderId: later });
    expect(await payments.findPayable({ address: '0xUNKNOWN' })).toBeNull();
    for (const payAt of [{ address: '0xD2' }, { reference: 'REFD2' }])
      await expect(payments.findPayable(payAt)).rejects.toMatchObject(UNAVAILABLE);
  };
  await check();
  const parked = "select from payments.parked_streams where subscription = 'payables'";
  await until(async () => (await payments.pool.query(parked)).rowCount);
  await until(async () => (await rowsOf(later)).length);
  await check();
  const afterParking = await payments.createOrder(applied, [deposit('0xD4', 44)]);
  expect(await payments.findPayable({ address: '0xD4' })).toMatchObject({ orderId: afterParking });
  await payments.client.tombstoneStream(`order-${orderId}`, { expectedRevision: 'any' });
  await payments.pool.query('delete from payments.parked_streams');
});

test('knows of no unknown address while too many streams are parked', async () => {
  await payments.pool.query(
    "insert into payments.parked_streams select 'payables', 'order-' || n, 0, 'e', 't', 'reason' from generate_series(0, 100) n",
  );
  await expect(payments.findPayable({ address: '0xUNKNOWN' })).rejects.toMatchObject(UNAVAILABLE);
  await payments.pool.query('delete from payments.parked_streams');
  expect(await payments.findPayable({ address: '0xUNKNOWN' })).toBeNull();
});

test('keeps the reserved indexes that no order shows', async () => {
  await payments.events.reserved('f00dcafe', 20, 4);
  await payments.createOrder(applied, [deposit('0xB1', 21)]);
  await payments.events.reserved('f00dcafe', 24, 1, 0, [20]);
  const reserved = async () =>
    (await payments.pool.query('select index::int, revision::int from payments.reserved_indexes order by index')).rows;
  await until(async () => (await reserved()).some(({ index }) => index === 24));
  expect(await reserved()).toEqual([
    { index: 20, revision: 1 },
    { index: 22, revision: 0 },
    { index: 23, revision: 0 },
    { index: 24, revision: 1 },
  ]);
});

test('a rebuild makes the same rows, also when the tables are empty', async () => {
  const options = payments.shadowTableOptions(payableProjection(payments.client));
  expect(await verify(options)).toMatchObject({ differ: 0 });
  await payments.pool.query('truncate payments.payables, payments.reserved_indexes');
  await rebuild(options);
  expect(await verify(options)).toMatchObject({ differ: 0, rows: expect.any(Number) });
  expect((await payments.findPayable({ address: '0xA4' }))?.merchantId).toBe(MERCHANT);
});
