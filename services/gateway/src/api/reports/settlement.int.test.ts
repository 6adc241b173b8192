import { exampleOf, SettlementLine } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, projectOrder, projectPosting } from '../../testing/jest-resources.ts';

const NOW = '2026-01-31T18:00:00.000Z';
const EMPTY = { payer: '0.000000', received: '0.000000', net: '0.000000', fee: '0.000000' };
const NONE = { ...EMPTY, surplus: '0.000000', orphan: '0.000000', refunded: '0.000000', returned: '0.000000' };

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway({ now: () => new Date(NOW) });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
});

/** The lines of one entry of a payment, by account. */
const post = async (
  accounts: Partial<Record<SettlementLine['account'], string>>,
  { paidAt, ...more }: Partial<SettlementLine> & { readonly paidAt?: string } = {},
) => {
  const payment = `pay_${newUlid()}`;
  const { refund_id: _, tx_hash: __, ...line } = exampleOf(SettlementLine);
  for (const [index, [account, amount]] of Object.entries(accounts).entries())
    await projectPosting(
      gateway.pool,
      {
        ...line,
        ...more,
        id: `${payment}_000001_0${index + 1}`,
        ...{ merchant_id: shop.id, payment_id: payment, account: account as never, amount },
      },
      paidAt,
    );
  return payment;
};
const list = async (query: Record<string, string> = {}, by = shop) =>
  (await by.send('GET', `/v1/reports/settlements?${new URLSearchParams(query)}`)).body;
const balances = async (query: Record<string, string> = {}, by = shop) =>
  (await by.send('GET', `/v1/reports/balances?${new URLSearchParams(query)}`)).body;
const csv = async (query: Record<string, string>, by = shop) =>
  by.send('GET', `/v1/reports/settlements.csv?${new URLSearchParams(query)}`);

test('a line names its entry, its order, and what it was worth at the sale', async () => {
  const order_id = `ord_${newUlid()}`;
  const rates = { MXN: { ...orderOf(order_id, shop.id).rates.MXN!, rate: '0.05' } };
  await projectOrder(gateway.pool, orderOf(order_id, shop.id, { rates, external_reference_id: 'table 7' }));
  const payment = await post({ net: '10.395000', fee: '-0.105000' }, { order_id, booked_at: NOW });
  const { items: lines, total } = await list({ sort: 'asc' });
  expect(total).toBe(2);
  expect(lines[0]).toEqual({
    ...{ id: `${payment}_000001_01`, entry: `${payment}_000001`, merchant_id: shop.id, booked_at: NOW },
    ...{
      event: 'payment.applied',
      account: 'net',
      amount: '10.395000',
      currency: 'USDC',
      payment_id: payment,
      order_id,
    },
    ...{
      external_reference_id: 'table 7',
      item_amount: '207.90',
      item_currency: 'MXN',
      rate: '0.05',
    },
  });
  expect(lines[1]).toMatchObject({ amount: '-0.105000', item_amount: '-2.10' });
  expect((await list({}, await gateway.merchant())).items).toEqual([]);
});

test('a line says nothing of the sale if the order is gone, or was priced anew since the payment', async () => {
  const gone = await post({ net: '1.000000' }, { order_id: `ord_${newUlid()}` });
  const order_id = `ord_${newUlid()}`;
  await projectOrder(gateway.pool, orderOf(order_id, shop.id));
  const repriced = await post({ net: '1.000000' }, { order_id, paidAt: '2026-01-01T00:00:00.000Z' });
  const linesOf = async (payment_id: string) => (await list({ payment_id })).items[0];
  for (const line of [await linesOf(gone), await linesOf(repriced)]) expect(line).not.toHaveProperty('item_amount');
  expect(await linesOf(gone)).not.toHaveProperty('external_reference_id');
  expect(await linesOf(repriced)).toHaveProperty('external_reference_id');
});

test('filters by currency, account, payment, order and time', async () => {
  const payment = await post({ payer: '-1.000000', received: '1.000000' }, { booked_at: '2026-01-30T12:00:00.000Z' });
  await post({ payer: '-0.00000001' }, { currency: 'BTC', booked_at: '2026-01-31T12:00:00.000Z' });
  const totalOf = async (query: Record<string, string>) => (await list(query)).total;
  expect(await totalOf({ account: 'payer' })).toBe(2);
  expect(await totalOf({ account: 'payer', currency: 'USDC' })).toBe(1);
  expect(await totalOf({ payment_id: payment })).toBe(2);
  expect(await totalOf({ order_id: exampleOf(SettlementLine).order_id })).toBe(3);
  expect(await totalOf({ from_date: '2026-01-31T00:00:00Z' })).toBe(1);
});

test('balances are the sums of the lines before a time', async () => {
  await post({ payer: '-10.000000', received: '10.000000' }, { booked_at: '2026-01-30T12:00:00.000Z' });
  await post({ received: '-10.000000', net: '9.900000', fee: '0.100000' }, { booked_at: '2026-01-31T12:00:00.000Z' });
  await post({ payer: '-0.00000001' }, { currency: 'BTC', booked_at: '2026-01-31T12:00:00.000Z' });
  expect(await balances({ at: '2026-01-31T12:00:00Z' })).toEqual({
    at: '2026-01-31T12:00:00.000Z',
    currencies: [{ currency: 'USDC', accounts: { ...NONE, payer: '-10.000000', received: '10.000000' } }],
  });
  expect((await balances()).currencies).toMatchObject([
    { currency: 'BTC', accounts: { payer: '-0.00000001', net: '0.00000000' } },
    { currency: 'USDC', accounts: { ...NONE, payer: '-10.000000', net: '9.900000', fee: '0.100000' } },
  ]);
  expect((await balances({}, await gateway.merchant())).currencies).toEqual([]);
});

test('the CSV has every line of the days, oldest first, and no formula', async () => {
  const order_id = `ord_${newUlid()}`;
  await projectOrder(gateway.pool, orderOf(order_id, shop.id, { external_reference_id: '=cmd|"x",\ny' }));
  const inside = await post({ net: '-1.000000' }, { order_id, booked_at: '2026-01-31T05:30:00.000Z' });
  const later = await post({ fee: '2.000000' }, { booked_at: '2026-01-31T05:31:00.000Z' });
  await post({ net: '5.000000' }, { booked_at: '2026-01-31T06:00:00.000Z' });
  await post({ net: '7.00000000' }, { currency: 'BTC', booked_at: '2026-01-31T05:30:00.000Z' });
  const { status, headers, text } = await csv({
    ...{ from: '2026-01-30', to: '2026-01-30', timezone: 'America/Mexico_City', currency: 'USDC' },
  });
  expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers['content-disposition']).toBe('attachment; filename="settlements_2026-01-30_2026-01-30.csv"');
  expect(text.split('\r\n')[0]).toMatch(/^id,entry,booked_at,event,account,amount,currency,item_amount,/);
  expect(text).toContain(
    `${inside}_000001_01,${inside}_000001,2026-01-31T05:30:00.000Z,payment.applied,net,-1.000000,USDC,`,
  );
  expect(text).toContain(`,"'=cmd|""x"",\ny",`);
  expect(text.indexOf(inside)).toBeLessThan(text.indexOf(later));
  expect(text.match(/pay_\w+_000001_01,/g)).toHaveLength(2);
});

test('the CSV goes on where a batch ends', async () => {
  await gateway.pool.query(
    `insert into payments.postings (id, payment_id, merchant_id, order_id, currency, account, amount, event, payment_created_at, created_at)
     select 'pay_' || n || '_000001_01', 'pay_' || n, $1, 'none', 'USDC', 'net', n, 'payment.applied', $2, $2 from generate_series(1, 2500) as n`,
    [shop.id, '2026-01-30T12:00:00Z'],
  );
  const { text } = await csv({ from: '2026-01-30', to: '2026-01-30' });
  const amounts = text
    .trim()
    .split('\r\n')
    .slice(1)
    .map((row) => Number(row.split(',')[5]));
  expect(amounts.sort((a, b) => a - b)).toEqual(Array.from({ length: 2_500 }, (_, n) => n + 1));
});

test.each([
  [
    'a period that ends before it begins',
    { from: '2026-02-01', to: '2026-01-31' },
    'to: must not be before 2026-02-01',
  ],
  ['no end', { from: '2026-02-01' }, 'to: must be a date, like 2026-01-31'],
  [
    'an offset',
    { from: '2026-01-01', to: '2026-01-31', timezone: '+05:00' },
    'timezone: must be a time zone, like UTC or America/Mexico_City',
  ],
])('refuses %s', async (_, query, message) => {
  const { status, body } = await csv(query);
  expect([status, body.message]).toEqual([400, message]);
});
