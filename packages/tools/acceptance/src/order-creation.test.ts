import {
  decimalsIn,
  type ItemCurrency,
  type MerchantCreateOrderDto,
  PaymentCurrency,
  type PaymentRail,
  toMinor,
} from '@cpg/contracts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => shop.api.close());

/** Price of 100 units of each item currency in USDT, USDC, USDG, BTC, ETH and CAZ, at the sandbox rates. */
const COST_OF_100: Partial<Record<ItemCurrency, readonly string[]>> = {
  MXN: ['5.450000', '5.450000', '5.450000', '0.00005383', '0.001566100000000000', '21.800000000000000000'],
  USD: ['100.000000', '100.000000', '100.000000', '0.00098766', '0.028735640000000000', '400.000000000000000000'],
  EUR: ['116.000000', '116.000000', '116.000000', '0.00114568', '0.033333340000000000', '464.000000000000000000'],
  ARS: ['0.071000', '0.071000', '0.071000', '0.00000071', '0.000020410000000000', '0.284000000000000000'],
  CLP: ['0.106000', '0.106000', '0.106000', '0.00000105', '0.000030460000000000', '0.424000000000000000'],
  JPY: ['0.640000', '0.640000', '0.640000', '0.00000633', '0.000183910000000000', '2.560000000000000000'],
  KWD: ['326.000000', '326.000000', '326.000000', '0.00321976', '0.093678170000000000', '1304.000000000000000000'],
  USDT: ['100.000000', '100.000000', '100.000000', '0.00098766', '0.028735640000000000', '400.000000000000000000'],
  USDC: ['100.000000', '100.000000', '100.000000', '0.00098766', '0.028735640000000000', '400.000000000000000000'],
  USDG: ['100.000000', '100.000000', '100.000000', '0.00098766', '0.028735640000000000', '400.000000000000000000'],
};

describe('a new order', () => {
  test('has the requested fields and awaits payment of its total', async () => {
    const requested: MerchantCreateOrderDto = orderBody({
      external_reference_id: 'cart 7/ü',
      metadata: { table: 4, nested: { deep: [null, true, 'x'] } },
      expiration_minutes: 90,
      capabilities: { express_checkout: true, expiration_auto_renewal: true },
    });
    const order = await shop.api.createOrder(requested);
    expect(order).toMatchObject({
      external_reference_id: requested.external_reference_id,
      merchant_id: shop.id,
      items: requested.items,
      metadata: requested.metadata,
      capabilities: requested.capabilities,
      currency: 'USDT',
      payments: [],
      status: 'awaiting_payment',
      total_amount: '10.000000',
      remaining_amount: '10.000000',
      rates: { USDT: { rate: '1' } },
    });
    const minutes = (Date.parse(order.expiration_date!) - Date.parse(order.created_at!)) / 60_000;
    expect(minutes).toBe(90);
    expect(order.updated_at).toBe(order.created_at);
  });

  test('counts discounts, taxes and shipping', async () => {
    const items = [
      item('850', 'MXN'),
      item('-25.50', 'MXN', { name: 'Birthday', kind: 'discount', quantity: 2 }),
      item('1.00', 'MXN', { name: 'VAT', kind: 'tax' }),
      item('10', 'USDT', { name: 'Courier', kind: 'shipping' }),
    ];
    const order = await shop.api.createOrder(orderBody({ items }));
    expect(order).toMatchObject({
      items,
      item_totals: { MXN: '800.00', USDT: '10.000000' },
      total_amount: '53.600000',
      payment_url: expect.stringContaining(order.payment_reference!),
    });
  });

  test('may fill the largest allowed body', async () => {
    const bodyOf = (length: number) => {
      const modifier = (name: string) => ({ name, quantity: 1, unit_price: '1', currency: 'USDT' as const });
      const full = (items: number) =>
        Array.from({ length: items }, () =>
          item('1', 'USDT', { modifiers: Array(20).fill(modifier('x'.repeat(256))) }),
        );
      const body = orderBody({ items: [...full(40), item('1', 'USDT')] });
      const missing = length - JSON.stringify(body).length;
      return { ...body, metadata: { note: 'x'.repeat(missing - ',"metadata":{"note":""}'.length) } };
    };
    const LIMIT = 256 * 1024;
    const largest = bodyOf(LIMIT);
    expect(JSON.stringify(largest)).toHaveLength(LIMIT);
    expect((await shop.api.createOrder(largest)).items).toEqual(largest.items);
    expect((await shop.api.send('POST', '/v1/orders', { body: bodyOf(LIMIT + 1) })).status).toBe(413);
  });

  test('expires after an hour by default', async () => {
    const { expiration_date, created_at } = await shop.api.createOrder(orderBody());
    expect(Date.parse(expiration_date!) - Date.parse(created_at!)).toBe(60 * 60_000);
  });
});

describe('the total of an order', () => {
  const matrix = Object.entries(COST_OF_100).flatMap(([from, costs]) =>
    PaymentCurrency.options.map((to, index) => [from as ItemCurrency, to, costs[index]!] as const),
  );

  const BOTH_RAILS: PaymentRail[] = ['gateway_pay', 'crypto_deposit'];
  const railsFor = (to: PaymentCurrency, cost: string) =>
    to === 'BTC' && toMinor(cost, decimalsIn(cost)) < 1_000n ? BOTH_RAILS.slice(0, 1) : BOTH_RAILS;

  test.each(matrix)('of 100 %s paid in %s costs %s on each rail that can take it', async (from, to, cost) => {
    const enable_rails = railsFor(to, cost);
    const body = orderBody({ items: [item('100', from)], payment_currency: to, enable_rails });
    const order = await shop.api.createOrder(body);
    expect(order).toMatchObject({ total_amount: cost, remaining_amount: cost, currency: to });
    expect(Object.keys(order.rates)).toEqual([from]);
    expect(order.deposit_instructions.map(({ rail }) => rail)).toEqual(enable_rails);
    for (const instruction of order.deposit_instructions) {
      expect(instruction).toMatchObject({ currency: to, amount: cost, expires_at: order.expiration_date });
    }
  });

  test('must be payable on a chain where a deposit is enabled', async () => {
    const body = orderBody({ items: [item('100', 'ARS')], payment_currency: 'BTC' });
    const { status, body: refusal } = await shop.api.send('POST', '/v1/orders', { body });
    expect({ status, refusal }).toMatchObject({
      status: 400,
      refusal: { code: 'amount_too_small', details: [{ path: 'items' }] },
    });
  });

  test('adds modifiers by their own quantity and rounds up once per order', async () => {
    const order = await shop.api.createOrder(
      orderBody({
        payment_currency: 'USDC',
        items: [
          // 3 x 1.10 EUR + 2 x 0.25 EUR, then 0.333333 x 0.01 ARS, then 1.5 x 20 MXN - 0 MXN
          item('1.10', 'EUR', {
            quantity: 3,
            modifiers: [{ name: 'oat milk', quantity: 2, unit_price: '0.25', currency: 'EUR' }],
          }),
          item('0.01', 'ARS', { quantity: 0.333333 }),
          item('20', 'MXN', {
            quantity: 1.5,
            modifiers: [{ name: 'free', quantity: 1, unit_price: '0', currency: 'USD' }],
          }),
        ],
      }),
    );
    // 3.80 x 1.16 + 0.00333333 x 0.00071 + 30 x 0.0545 = 6.0430023666643
    expect(order.total_amount).toBe('6.043003');
    expect(Object.keys(order.rates).sort()).toEqual(['ARS', 'EUR', 'MXN', 'USD']);
    expect(order.items[0]).toMatchObject({ unit_price: '1.10', quantity: 3 });
  });

  test('locks the rate of each item currency and names its source', async () => {
    const { rates, created_at } = await shop.api.createOrder(
      orderBody({ items: [item('1', 'MXN'), item('1', 'USDC')], payment_currency: 'USDC' }),
    );
    expect(rates).toEqual({
      MXN: { rate: '0.0545', source: 'sandbox', quoted_at: expect.any(String), expires_at: expect.any(String) },
      USDC: { rate: '1', source: expect.any(String), quoted_at: expect.any(String), expires_at: expect.any(String) },
    });
    expect(rates.MXN!.quoted_at <= created_at! && created_at! < rates.MXN!.expires_at).toBe(true);
  });

  test('may have the largest allowed items, modifiers and metadata', async () => {
    const modifiers = Array.from({ length: 20 }, (_, n) => ({
      name: `extra ${n}`,
      quantity: 0.000001,
      unit_price: '1',
      currency: 'USDT' as const,
    }));
    const items = Array.from({ length: 100 }, () => item('0.000001', 'USDT', { quantity: 1_000_000, modifiers }));
    const { total_amount } = await shop.api.createOrder(
      orderBody({ items, external_reference_id: 'x'.repeat(128), metadata: { text: 'x'.repeat(16 * 1024 - 11) } }),
    );
    // 100 x (1,000,000 x 0.000001 + 20 x 0.000001)
    expect(total_amount).toBe('100.002000');
  });
});

describe('deposit instructions', () => {
  test('are given for the enabled rails only', async () => {
    for (const rail of ['gateway_pay', 'crypto_deposit'] as const) {
      const order = await shop.api.createOrder(orderBody({ enable_rails: [rail] }));
      expect(new Set(order.deposit_instructions.map((instruction) => instruction.rail))).toEqual(new Set([rail]));
      expect(order.payment_reference !== undefined).toBe(rail === 'gateway_pay');
    }
  });

  test('of gateway_pay are a unique reference and link', async () => {
    const orders = await Promise.all([1, 2, 3].map(() => shop.api.createOrder(orderBody())));
    const links = orders.map(({ deposit_instructions: [link], payment_reference }) => {
      if (link?.rail !== 'gateway_pay') throw new Error('the first rail is gateway_pay');
      expect(link).toMatchObject({ payment_reference, payment_url: expect.stringContaining(payment_reference!) });
      expect(link.qr_content).toContain(payment_reference!);
      return link.payment_url;
    });
    expect(new Set(links).size).toBe(3);
  });

  test.each([
    ['BTC', /^bip122:/, /^(tb1|bc1)[02-9ac-hj-np-z]+$/, (to: string) => `bitcoin:${to}?amount=0.00098766`, '98766', 8],
    [
      'ETH',
      /^eip155:\d+\/slip44:60$/,
      /^0x[0-9a-fA-F]{40}$/,
      (to: string, chain: string) => `ethereum:${to}@${chain}?value=28735640000000000`,
      '28735640000000000',
      18,
    ],
    [
      'USDC',
      /^eip155:\d+\/erc20:0x/,
      /^0x[0-9a-fA-F]{40}$/,
      (to: string, chain: string, token: string) =>
        `ethereum:${token}@${chain}/transfer?address=${to}&uint256=100000000`,
      '100000000',
      6,
    ],
  ] as const)(
    'of crypto_deposit in %s are an address and a payment URI',
    async (currency, asset, address, uri, units, decimals) => {
      const { deposit_instructions } = await shop.api.createOrder(
        orderBody({ items: [item('100', 'USD')], payment_currency: currency, enable_rails: ['crypto_deposit'] }),
      );
      const [deposit] = deposit_instructions;
      if (deposit?.rail !== 'crypto_deposit') throw new Error('there is no deposit address');
      expect(deposit.asset).toMatch(asset);
      expect(deposit.asset.startsWith(deposit.chain_id)).toBe(true);
      expect(deposit.address).toMatch(address);
      const [chain, token] = [deposit.chain_id.split(':')[1]!, deposit.asset.split(':').at(-1)!];
      expect(deposit).toMatchObject({ payment_uri: uri(deposit.address, chain, token), amount_units: units, decimals });
      expect(deposit.required_confirmations).toBeGreaterThan(0);
    },
  );

  test('never repeat an address', async () => {
    const orders = await Promise.all(
      Array.from({ length: 24 }, () => shop.api.createOrder(orderBody({ enable_rails: ['crypto_deposit'] }))),
    );
    const addresses = orders.flatMap(({ deposit_instructions }) =>
      deposit_instructions.map((instruction) => instruction.rail === 'crypto_deposit' && instruction.address),
    );
    expect(addresses.length).toBeGreaterThanOrEqual(24);
    expect(new Set(addresses).size).toBe(addresses.length);
  });
});
