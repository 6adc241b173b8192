import { setImmediate as settled } from 'node:timers/promises';
import { type AssignedInstruction, PaymentCurrency } from '@cpg/contracts';
import { createLogger, newId } from '@cpg/runtime';
import { createStock } from '../../orders/src/stock/stock.ts';
import { leaseReferences } from './rails/gateway-pay.ts';
import { depositOf, instructionsOf, type RailsDatabase, SANDBOX, startRailsDatabase } from './testing/jest-rails.ts';

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
    lease_ms: expect.any(Number),
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
  expect(stock.lease_ms).toBeGreaterThan(60_000);
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
  const prefetches = { ...registers, name: 'sandbox', newReference: () => ({ reference: 'R', paymentUrl: 'u' }) };
  expect(leaseReferences([prefetches])(1)).toEqual({ sandbox: [{ payment_reference: 'R', payment_url: 'u' }] });
  expect(leaseReferences([prefetches, registers])(1)).toBeNull();
  expect(leaseReferences([])(1)).toBeNull();
});

/** Without what differs from order to order. */
const contentOf = (instructions: readonly AssignedInstruction[]): string =>
  JSON.stringify(instructions, (key, value) => {
    if (key === 'path') return (value as string).replace(/\d+$/, 'N');
    if (['address', 'paymentReference'].includes(key)) return typeof value;
    return key === 'paymentUrl' ? (value as string).replace(/[^/]+$/, 'REF') : value;
  });

test.each(PaymentCurrency.options)('orders makes the same instructions in %s as payments', async (currency) => {
  const { lease, assign } = rails.startStock();
  const asked: Promise<unknown>[] = [];
  const stock = createStock({
    assets: SANDBOX,
    lease: (call) => {
      const leased = lease(call);
      asked.push(leased);
      return leased;
    },
    log: createLogger({ name: 'stock', level: 'silent' }),
  });
  for (const enabled of [
    ['gateway_pay', 'crypto_deposit'],
    ['crypto_deposit', 'gateway_pay'],
  ] as const) {
    const order = { currency, rails: enabled, totalMinor: 10n ** 18n };
    stock.take(order);
    await Promise.all(asked);
    await settled();
    const fromStock = stock.take(order)!.instructions;
    const fromPayments = await instructionsOf(assign, newId('order'), currency, [...enabled]);
    expect(contentOf(fromStock)).toBe(contentOf(fromPayments));
  }
});
