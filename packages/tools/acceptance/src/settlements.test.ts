import {
  add,
  type Balances,
  formatDecimal,
  type Order,
  parseSigned,
  type Payment,
  type SettlementLine,
} from '@cpg/contracts';
import { type KafkaLog, readKafkaLog } from './harness/kafka-log.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let kafka: KafkaLog;
let payments: Payment[];

beforeAll(async () => {
  [shop, kafka] = await Promise.all([openShop(stack), readKafkaLog(stack.kafkaBrokers)]);
  const create = (currency: 'USDT' | 'BTC', changes = {}) =>
    shop.api.createOrder(orderBody({ payment_currency: currency, items: [item('10', 'USD')], ...changes }));
  const pay = ({ id, currency, total_amount }: Order, amount = total_amount, more = {}) =>
    shop.api.pay({ order_id: id, payment_rail: 'gateway_pay', amount, currency, ...more });
  const refund = (id: string, body: object) => shop.api.send('POST', `/v1/payments/${id}/refund`, { body });

  await pay(await create('BTC'));
  const short = await pay(await create('USDT'), '4');
  await shop.api.cancel(short.id);
  const over = await pay(await create('USDT'), '12.5');
  await refund(over.payments[0]!.id, { what: 'surplus' });
  const twice = await create('USDT');
  await pay(twice);
  const { payments: orphaned } = await pay(twice, '3');
  await refund(orphaned[1]!.id, { amount: '1' });
  const returned = await pay(await create('USDT'));
  await refund(returned.payments[0]!.id, { what: 'all' });
  const lost = await pay(await create('USDT'));
  await shop.api.send('POST', `/debug/payments/${lost.payments[0]!.id}/fail`, { body: {} });
  await pay(await create('USDT'), '10', { outcome: 'pending' });
  payments = (await shop.api.payments({ limit: 100 })).items;
});
afterAll(() => Promise.all([shop.api.close(), kafka.close()]));

const sum = (amounts: readonly (string | undefined)[]): string =>
  formatDecimal(amounts.map((amount = '0') => parseSigned(amount)).reduce(add, { units: 0n, scale: 8 }));

/** What the accounts have to be, by the payments alone. */
const expectedOf = (all: readonly Payment[], currency: string) => {
  const own = all.filter((payment) => payment.currency === currency);
  const of = (status: Payment['status'], field: keyof Payment) =>
    own.filter((payment) => payment.status === status).map((payment) => payment[field] as string | undefined);
  const minus = (amounts: readonly (string | undefined)[]) => amounts.map((amount = '0') => `-${amount}`);
  const applied = [...of('applied', 'fee_amount'), ...of('refunded', 'fee_amount')];
  const refunded = own.map(({ refunded_amount }) => refunded_amount);
  return {
    payer: sum(minus(own.map(({ paid_amount }) => paid_amount))),
    received: sum(of('received', 'paid_amount')),
    net: sum([...of('applied', 'applied_amount'), ...minus(applied)]),
    fee: sum(applied),
    surplus: sum(of('applied', 'unapplied_amount')),
    orphan: sum([...of('orphan', 'paid_amount'), ...minus(of('orphan', 'refunded_amount'))]),
    refunded: sum(refunded),
    returned: sum(of('failed', 'paid_amount')),
  };
};

const linesOfReport = async (): Promise<SettlementLine[]> => {
  const lines: SettlementLine[] = [];
  for (let cursor: string | undefined; ;) {
    const { status, body } = await shop.api.send(
      'GET',
      `/v1/reports/settlements?limit=7&sort=asc${cursor === undefined ? '' : `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    lines.push(...(body.items as SettlementLine[]));
    cursor = body.next_cursor as string | undefined;
    if (cursor === undefined) return lines;
  }
};

test('the payments have every state that moves money', () => {
  const states = payments.map(({ status }) => status);
  expect([...new Set(states)].sort()).toEqual(['applied', 'failed', 'orphan', 'received', 'refunded']);
});

test('balances, lines, CSV, lists and Kafka agree to the last unit', async () => {
  const balances = (await shop.api.send('GET', '/v1/reports/balances')).body as Balances;
  const lines = await linesOfReport();
  const day = new Date().toISOString().slice(0, 10);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const { text } = await shop.api.send('GET', `/v1/reports/settlements.csv?from=${yesterday}&to=${day}`);
  const rows = text
    .trim()
    .split('\r\n')
    .slice(1)
    .map((row) => row.split(','));
  const published: Payment[] = [];
  for (const payment of payments) {
    const isLatest = ({ data: { resource } }: { data: { resource: unknown } }) =>
      (resource as Payment).updated_at === payment.updated_at;
    const messages = await kafka.waitFor(payment.id, (found) => isLatest(found.at(-1)!));
    published.push(messages.at(-1)!.data.resource as Payment);
  }

  expect(balances.currencies.map(({ currency }) => currency)).toEqual(['BTC', 'USDT']);
  for (const { currency, accounts } of balances.currencies) {
    const scaled = Object.fromEntries(Object.entries(accounts).map(([account, amount]) => [account, sum([amount])]));
    expect(sum(Object.values(accounts))).toBe(sum([]));
    expect(scaled).toEqual(expectedOf(payments, currency));
    expect(scaled).toEqual(expectedOf(published, currency));
    for (const account of Object.keys(accounts)) {
      const ofLines = lines.filter((line) => line.currency === currency && line.account === account);
      const ofRows = rows.filter((row) => row[6] === currency && row[4] === account);
      expect(sum(ofLines.map(({ amount }) => amount))).toBe(scaled[account]);
      expect(sum(ofRows.map((row) => row[5]))).toBe(scaled[account]);
    }
  }
});

test('the lines of each entry add up to zero, and name the order and its price', async () => {
  const lines = await linesOfReport();
  for (const entry of new Set(lines.map((line) => line.entry)))
    expect(sum(lines.filter((line) => line.entry === entry).map(({ amount }) => amount))).toBe(sum([]));
  expect(lines.every(({ external_reference_id }) => external_reference_id !== undefined)).toBe(true);
  const sold = lines.find(({ account, currency }) => account === 'net' && currency === 'BTC')!;
  const fee = lines.find(({ account, entry }) => account === 'fee' && entry === sold.entry)!;
  expect(sum([sold.item_amount, fee.item_amount])).toBe(sum(['10']));
  expect(sold).toMatchObject({ item_currency: 'USD', event: 'payment.applied' });
});

test('another merchant has an empty report', async () => {
  const other = await openShop(stack);
  expect((await other.api.send('GET', '/v1/reports/balances')).body.currencies).toEqual([]);
  expect((await other.api.send('GET', '/v1/reports/settlements')).body.items).toEqual([]);
  await other.api.close();
});
