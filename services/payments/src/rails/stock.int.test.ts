import { setImmediate as settled } from 'node:timers/promises';
import { type AssignedInstruction, depositsOf, PaymentCurrency } from '@cpg/contracts';
import { createLogger, newId } from '@cpg/platform';
import { readDepositSettings } from '../../../orders/src/create/followed.ts';
import { createStock } from '../../../orders/src/create/stock.ts';
import { hostedProvider } from './gateway-pay/hosted.ts';
import { leaseReferences } from './gateway-pay/gateway-pay.ts';
import { CONTEXT } from '../testing/jest-fixtures.ts';
import {
  depositOf,
  instructionsOf,
  MERCHANT,
  ownKey,
  type RailsDatabase,
  SANDBOX,
  startRailsDatabase,
  SCALES,
} from '../testing/jest-rails.ts';

let rails: RailsDatabase;

beforeAll(async () => {
  rails = await startRailsDatabase();
});
afterAll(() => rails.stop());

test('leases addresses of several networks and references of every provider', async () => {
  const { lease } = rails.startStock();
  const stock = await lease({
    addresses: { 'ethereum-sepolia': 3, 'bitcoin-testnet': 1, 'no-such': 2 },
    references: 2,
  });
  expect(stock).toEqual({
    addresses: {
      'ethereum-sepolia': Array.from({ length: 3 }, () => ({
        address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
        derivation: { fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/), path: expect.stringMatching(/^0\/\d+$/) },
      })),
      'bitcoin-testnet': [expect.objectContaining({ address: expect.stringMatching(/^tb1q/) })],
    },
    references: {
      sandbox: Array.from({ length: 2 }, () => ({
        payment_reference: expect.stringMatching(/^[A-Z2-7]{26}$/),
        payment_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/pay\/[A-Z2-7]{26}$/),
      })),
    },
  });
});

test('leases an address once, and never one that an order was assigned', async () => {
  const processes = [rails.startStock(), rails.startStock()];
  const leased = processes.map(({ lease }) => lease({ addresses: { 'ethereum-sepolia': 12 }, references: 0 }));
  const assigned = processes.map(({ assign }) => depositOf(assign, newId('order')));
  const addresses = [
    ...(await Promise.all(leased)).flatMap((stock) =>
      stock.addresses['ethereum-sepolia']!.map(({ address }) => address),
    ),
    ...(await Promise.all(assigned)).map(({ address }) => address),
  ];
  expect(new Set(addresses).size).toBe(26);
});

test('leases no references while a provider has to register each order', () => {
  const registers = {
    name: 'real',
    supports: () => true,
    registerOrder: async () => ({ reference: 'R', paymentUrl: 'u' }),
  };
  const leased = { payment_reference: 'R', payment_url: 'u' };
  const prefetches = { ...registers, name: 'sandbox', newReference: () => leased };
  expect(leaseReferences({ outside: [], own: [prefetches] })(1)).toEqual({ sandbox: [leased] });
  expect(leaseReferences({ outside: [], own: [prefetches, registers] })(1)).toBeNull();
  expect(leaseReferences({ outside: [], own: [] })(1)).toBeNull();
});

/** Without what differs from order to order. */
const contentOf = (instructions: readonly AssignedInstruction[]): string =>
  JSON.stringify(instructions, (key, value) => {
    if (key === 'path') return (value as string).replace(/(?<!\d)\d+$/, 'N');
    if (['address', 'paymentReference'].includes(key)) return typeof value;
    return key === 'paymentUrl' ? (value as string).replace(/(?<![^/])[^/]+$/, 'REF') : value;
  });

const everyOrder = [['gateway_pay', 'crypto_deposit'], ['crypto_deposit', 'gateway_pay'], ['gateway_pay']] as const;

/** A stock of orders over the leases of payments, once it had time to fill. */
const filledStock = async (
  { lease }: ReturnType<RailsDatabase['startStock']>,
  order: Parameters<ReturnType<typeof createStock>['take']>[0],
) => {
  const known = await readDepositSettings(rails.client)();
  const asked: Promise<unknown>[] = [];
  const stock = createStock({
    assets: SANDBOX,
    settings: () => known,
    isAvailable: () => true,
    lease: (call) => {
      const leased = lease(call);
      asked.push(leased);
      return leased;
    },
    log: createLogger({ name: 'stock', level: 'silent' }),
  });
  // The first refill brings the references, which say how many addresses are needed.
  for (let takes = 0; takes < 3; takes += 1) {
    stock.take(order)?.putBack();
    await Promise.all(asked);
    await settled();
  }
  return stock;
};

/** A merchant with an account and confirmations of its own. */
const ownMerchant = async ({ settings }: ReturnType<RailsDatabase['startStock']>): Promise<string> => {
  const merchantId = newId('merchant');
  for (const { id: asset } of SANDBOX.assets) {
    const set = { change: 'set_confirmations', asset } as const;
    await settings.change(merchantId, { ...set, confirmations: 77, from: '0.00005' }, CONTEXT);
    await settings.change(merchantId, { ...set, confirmations: 78, from: '100000' }, CONTEXT);
  }
  const key = ownKey();
  await settings.change(merchantId, { change: 'set_account', network: 'ethereum-sepolia', key }, CONTEXT);
  return merchantId;
};

test('orders makes the same instructions as payments, also for a merchant with an account of its own', async () => {
  const payments = rails.startStock();
  const own = [await ownMerchant(payments), 'ETH'] as const;
  for (const [merchantId, currency] of [...PaymentCurrency.options.map((each) => [MERCHANT, each] as const), own])
    for (const enabled of everyOrder) {
      const order = { merchantId, currency, rails: enabled, totalMinor: 10n ** 18n };
      const fromStock = (await filledStock(payments, order)).take(order)!.instructions;
      const amount = { merchantId, amountMinor: String(order.totalMinor) };
      const fromPayments = await instructionsOf(payments.assign, newId('order'), currency, [...enabled], amount);
      expect(contentOf(fromStock)).toBe(contentOf(fromPayments));
    }
});

test('orders makes the same instructions with addresses behind payment pages as payments', async () => {
  const payments = rails.startStock(['ethereum-sepolia'], hostedProvider);
  const merchantId = await ownMerchant(payments);
  for (const enabled of everyOrder) {
    const order = { merchantId, currency: 'USDC', rails: enabled, totalMinor: 10n ** 18n } as const;
    const fromStock = (await filledStock(payments, order)).take(order)!.instructions;
    const fromPayments = await instructionsOf(payments.assign, newId('order'), 'USDC', [...enabled], {
      merchantId,
      amountMinor: String(order.totalMinor),
    });
    expect(contentOf(fromStock)).toBe(contentOf(fromPayments));
    const page = fromStock.find(({ rail }) => rail === 'gateway_pay');
    expect(page).toMatchObject({ provider: 'hosted', deposits: [{ network: 'ethereum-sepolia', decimals: 6 }] });
    expect(new Set(fromStock.flatMap(depositsOf).map(({ address }) => address)).size).toBe(enabled.length);
  }
});

test('the stock takes nothing for a page whose networks cannot take the currency or the amount', async () => {
  const payments = rails.startStock(['ethereum-sepolia'], hostedProvider);
  for (const [currency, totalMinor, code] of [
    ['BTC', 10n ** 18n, 'invalid_request'],
    ['USDC', 0n, 'amount_too_small'],
  ] as const) {
    const order = { merchantId: MERCHANT, currency, rails: ['gateway_pay' as const], totalMinor };
    expect((await filledStock(payments, order)).take(order)).toBeNull();
    const call = {
      order_id: newId('order'),
      merchant_id: newId('merchant'),
      currency,
      amount_minor: String(totalMinor),
      decimals: SCALES[currency],
    };
    await expect(payments.assign({ ...call, rails: ['gateway_pay'] })).rejects.toMatchObject({
      code,
      message: expect.stringContaining('gateway_pay'),
    });
  }
});

test('a sandbox has pages without addresses where no watcher sees deposits', async () => {
  const { assign } = rails.startStock(['ethereum-sepolia']);
  const [inBitcoin] = await instructionsOf(assign, newId('order'), 'BTC', ['gateway_pay']);
  expect(inBitcoin).toMatchObject({ provider: 'sandbox', deposits: [] });
  const [inUsdc] = await instructionsOf(assign, newId('order'), 'USDC', ['gateway_pay']);
  expect(inUsdc).toMatchObject({ provider: 'sandbox', deposits: [{ network: 'ethereum-sepolia' }] });
});
