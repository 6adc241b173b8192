import { readDispatcherConfig } from './config.ts';

const env = {
  ENVIRONMENT: 'sandbox',
  METRICS_TOKEN: 'a token of more than thirty-two characters',
  GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN: 'another token of more than thirty-two characters',
  DATABASE_URL: 'postgres://localhost/cpg',
  KAFKA_BROKERS: 'localhost:9092',
  WEBHOOK_ENCRYPTION_KEY: 'a key of more than thirty-two characters',
};

test('the retry schedule defaults to the one of the contract', () => {
  expect(readDispatcherConfig(env).WEBHOOK_RETRY_SECONDS).toHaveLength(9);
  expect(readDispatcherConfig({ ...env, WEBHOOK_RETRY_SECONDS: '0.1, 2' }).WEBHOOK_RETRY_SECONDS).toEqual([0.1, 2]);
});

test.each([
  [{ WEBHOOK_RETRY_SECONDS: '5,soon' }, 'WEBHOOK_RETRY_SECONDS'],
  [{ WEBHOOK_ENCRYPTION_KEY: 'short' }, 'WEBHOOK_ENCRYPTION_KEY'],
  [{ ENVIRONMENT: 'production', WEBHOOK_ALLOW_LOCAL: 'true' }, 'WEBHOOK_ALLOW_LOCAL'],
  [{ WEBHOOK_BODY_RETENTION_DAYS: '91' }, 'WEBHOOK_BODY_RETENTION_DAYS'],
  [{ WEBHOOK_ALLOW_ADDRESSES: '10.0.0.0/8,shop.example' }, 'WEBHOOK_ALLOW_ADDRESSES'],
  [{ WEBHOOK_ALLOW_PORTS: '981,http' }, 'WEBHOOK_ALLOW_PORTS'],
  [{ WEBHOOK_ALLOW_PORTS: '70000' }, 'WEBHOOK_ALLOW_PORTS'],
  [{ ORDERS_URL: 'http://orders:4001' }, 'PAYMENTS_URL'],
  [{ ORDERS_URL: 'http://orders:4001', PAYMENTS_URL: 'http://payments:4002' }, 'WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN'],
  [{ PAYMENTS_URL: 'http://payments:4002' }, 'ORDERS_URL'],
  [{ ORDERS_URL: 'orders', PAYMENTS_URL: 'http://payments:4002' }, 'ORDERS_URL'],
  [{ ORDERS_URL: 'localhost:4001', PAYMENTS_URL: 'http://payments:4002' }, 'ORDERS_URL: must be an http'],
  [{ WEBHOOK_PROXY_URL: 'socks5://proxy:1080' }, 'WEBHOOK_PROXY_URL'],
])('refuses %p and names the variable', (wrong, name) =>
  expect(() => readDispatcherConfig({ ...env, ...wrong })).toThrow(name),
);

test('ORDERS_URL and PAYMENTS_URL are optional together', () => {
  expect(readDispatcherConfig(env)).not.toHaveProperty('ORDERS_URL');
  const both = { ORDERS_URL: 'http://orders:4001', PAYMENTS_URL: 'http://payments:4002' };
  const tokens = {
    WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN: 'the token for orders of thirty-two characters',
    WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN: 'the token for payments of thirty-two characters',
  };
  expect(readDispatcherConfig({ ...env, ...both, ...tokens })).toMatchObject(both);
});
