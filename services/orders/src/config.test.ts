import { readOrdersConfig } from './config.ts';

const ENV = {
  ENVIRONMENT: 'sandbox',
  METRICS_TOKEN: 'the-token-of-prometheus-in-the-tests',
  ORDERS_TO_PAYMENTS_TOKEN: 'the-token-of-orders-in-the-tests',
  GATEWAY_TO_ORDERS_TOKEN: 'the-token-of-the-gateway-in-tests',
  PAYMENTS_TO_ORDERS_TOKEN: 'the-token-of-payments-in-the-tests',
  WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN: 'the-token-of-dispatchers-in-tests',
  ADMIN_TO_ORDERS_TOKEN: 'the-token-of-admin-commands-in-tests',
  DATABASE_URL: 'postgres://127.0.0.1/test',
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113',
  KAFKA_BROKERS: '127.0.0.1:9092',
  PAYMENTS_URL: 'http://127.0.0.1:4002',
};

test('reads the age limits of the rate sources', () => {
  expect(readOrdersConfig(ENV).RATE_MAX_AGES).toBeUndefined();
  const { RATE_MAX_AGES } = readOrdersConfig({ ...ENV, RATE_MAX_AGES: 'ecb=100h, kraken=2m' });
  expect(RATE_MAX_AGES).toEqual(
    new Map([
      ['ecb', 360_000_000],
      ['kraken', 120_000],
    ]),
  );
});

test('names each age limit that is invalid', () => {
  expect(() => readOrdersConfig({ ...ENV, RATE_MAX_AGES: 'ecb=5d,kraken=5m,fed=27h' })).toThrow(
    /RATE_MAX_AGES: "ecb=5d" must have the form .*\n {2}RATE_MAX_AGES: "fed=27h" must have the form .*kraken, coinbase/,
  );
});

test('has the networks that one variable names', () => {
  const { assets } = readOrdersConfig({ ...ENV, NETWORKS: 'ethereum-sepolia' });
  expect(assets.networks.map(({ name }) => name)).toEqual(['ethereum-sepolia']);
  expect(() => readOrdersConfig({ ...ENV, NETWORKS: 'ethereum' })).toThrow(/^NETWORKS: "ethereum" must be among/);
});

test('has the assets of its environment', () => {
  const { assets } = readOrdersConfig(ENV);
  expect(assets.networks.map(({ name }) => name)).toEqual(['bitcoin-testnet', 'ethereum-sepolia']);
});

test('reads the sources of a currency, and names those that price it', () => {
  expect(readOrdersConfig({ ...ENV, RATE_SOURCES: 'ARS=bitso, EUR=kraken+ecb' }).RATE_SOURCES).toEqual(
    new Map([
      ['ARS', ['bitso']],
      ['EUR', ['kraken', 'ecb']],
    ]),
  );
  expect(() => readOrdersConfig({ ...ENV, RATE_SOURCES: 'USDG=ecb' })).toThrow(
    'RATE_SOURCES: "USDG=ecb" must have the form BTC=kraken+coinbase: USDG is priced by kraken',
  );
});

test('locks rates for at most 24 hours, unless it is told otherwise', () => {
  expect(readOrdersConfig(ENV).RATE_LOCK_MAX_MINUTES).toBe(1_440);
  expect(readOrdersConfig({ ...ENV, RATE_LOCK_MAX_MINUTES: '' }).RATE_LOCK_MAX_MINUTES).toBe(1_440);
  expect(readOrdersConfig({ ...ENV, RATE_LOCK_MAX_MINUTES: '60' }).RATE_LOCK_MAX_MINUTES).toBe(60);
  expect(() => readOrdersConfig({ ...ENV, RATE_LOCK_MAX_MINUTES: '4' })).toThrow(/RATE_LOCK_MAX_MINUTES/);
});
