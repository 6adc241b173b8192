import { newId } from '@cpg/runtime';
import { leaseReferences } from './rails/gateway-pay.ts';
import { depositOf, type RailsDatabase, startRailsDatabase } from './testing/jest-rails.ts';

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
