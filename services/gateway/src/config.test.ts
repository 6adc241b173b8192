import { newSigningKey } from '@cpg/transparency-log';
import { readConfig } from './config.ts';

const ENV = {
  ENVIRONMENT: 'sandbox',
  METRICS_TOKEN: 't'.repeat(32),
  GATEWAY_TO_ORDERS_TOKEN: 'o'.repeat(32),
  GATEWAY_TO_PAYMENTS_TOKEN: 'q'.repeat(32),
  GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN: 'd'.repeat(32),
  DATABASE_URL: 'postgres://localhost/app',
  EVENTSTORE_URL: 'esdb://127.0.0.1:2113?tls=false',
  ORDERS_URL: 'http://127.0.0.1:4001',
  PAYMENTS_URL: 'http://127.0.0.1:4002',
  WEBHOOK_DISPATCHER_URL: 'http://127.0.0.1:4003',
  API_KEY_PEPPER: 'p'.repeat(32),
  WEBHOOK_ENCRYPTION_KEY: `${'a'.repeat(32)},${'b'.repeat(32)}`,
};

test('optional variables have the documented defaults', () => {
  expect(readConfig(ENV)).toMatchObject({
    PORT: 4000,
    HOST: '127.0.0.1',
    RATE_LIMIT_PER_SECOND: 100,
    RATE_LIMIT_BURST: 200,
    RATE_LIMIT_AUTH_PER_MINUTE: 10,
    WEBHOOK_ALLOW_LOCAL: false,
    TRUST_PROXY: false,
    REQUEST_LOG_DAYS: 7,
    WEBHOOK_ENCRYPTION_KEY: ['a'.repeat(32), 'b'.repeat(32)],
  });
});

test.each([
  ['true', true],
  ['2', 2],
  ['false', false],
  ['10.0.0.0/8, 127.0.0.1', ['10.0.0.0/8', '127.0.0.1']],
])('TRUST_PROXY %s', (text, value) => {
  expect(readConfig({ ...ENV, TRUST_PROXY: text }).TRUST_PROXY).toEqual(value);
});

test('the error names every invalid variable', () => {
  const wrong = { ...ENV, ORDERS_URL: 'orders', API_KEY_PEPPER: 'short', TRUST_PROXY: 'proxy', RATE_LIMIT_BURST: '-1' };
  expect(() => readConfig(wrong)).toThrow(/ORDERS_URL[^]*API_KEY_PEPPER[^]*RATE_LIMIT_BURST[^]*TRUST_PROXY/);
});

test('rejects a short encryption key, and what is for sandboxes in production', () => {
  expect(() => readConfig({ ...ENV, WEBHOOK_ENCRYPTION_KEY: `${'a'.repeat(32)},short` })).toThrow(
    /WEBHOOK_ENCRYPTION_KEY/,
  );
  expect(() => readConfig({ ...ENV, ENVIRONMENT: 'production', WEBHOOK_ALLOW_LOCAL: 'true' })).toThrow(
    /WEBHOOK_ALLOW_LOCAL/,
  );
  expect(() => readConfig({ ...ENV, ENVIRONMENT: 'production', TEST_WALLET_URL: 'http://127.0.0.1:8545' })).toThrow(
    /TEST_WALLET_URL: is for sandboxes only/,
  );
});

test('AUDIT_LOG_KEY is a key for signed notes, or absent', () => {
  expect(readConfig(ENV).AUDIT_LOG_KEY).toBeUndefined();
  const key = newSigningKey('pay.example.com');
  expect(readConfig({ ...ENV, AUDIT_LOG_KEY: key }).AUDIT_LOG_KEY).toMatchObject({ name: 'pay.example.com' });
  const wrong = 'a'.repeat(64);
  const error = /AUDIT_LOG_KEY: is not a key for signed notes.*new-audit-log-key/;
  expect(() => readConfig({ ...ENV, AUDIT_LOG_KEY: wrong })).toThrow(error);
});

test('the settings of OpenID Connect are set together, with the address of the gateway', () => {
  const oidc = {
    OIDC_ISSUER: 'https://id.example',
    OIDC_CLIENT_ID: 'gateway',
    OIDC_CLIENT_SECRET: 's',
    OIDC_NAME: 'Acme',
  };
  expect(readConfig({ ...ENV, PUBLIC_URL: 'https://pay.example' }).OIDC_ISSUER).toBeUndefined();
  expect(readConfig({ ...ENV, ...oidc, PUBLIC_URL: 'https://pay.example' })).toMatchObject(oidc);
  expect(() => readConfig({ ...ENV, OIDC_ISSUER: oidc.OIDC_ISSUER })).toThrow(
    /OIDC_CLIENT_ID: is missing[^]*OIDC_CLIENT_SECRET[^]*OIDC_NAME[^]*PUBLIC_URL/,
  );
});

test('production refuses to trust every proxy, and a provider over plain http', () => {
  const secret = (text: string) => `${text} 4f8c1e0b7d2a96351c3e5f7a9b0d2c4e`;
  const production = {
    ...ENV,
    ENVIRONMENT: 'production',
    METRICS_TOKEN: secret('metrics'),
    GATEWAY_TO_ORDERS_TOKEN: secret('orders'),
    GATEWAY_TO_PAYMENTS_TOKEN: secret('payments'),
    GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN: secret('dispatcher'),
    API_KEY_PEPPER: secret('pepper'),
    WEBHOOK_ENCRYPTION_KEY: secret('seal'),
  };
  const oidc = {
    OIDC_CLIENT_ID: 'gateway',
    OIDC_CLIENT_SECRET: 's',
    OIDC_NAME: 'Acme',
    PUBLIC_URL: 'https://pay.example',
  };
  expect(() => readConfig({ ...production, ...oidc, OIDC_ISSUER: 'http://id.example' })).toThrow(
    /OIDC_ISSUER: is not encrypted/,
  );
  expect(() => readConfig({ ...production, TRUST_PROXY: 'true' })).toThrow(
    /TRUST_PROXY: true lets any client choose its own address: list the addresses of your proxies, or give their number/,
  );
  for (const TRUST_PROXY of ['false', '1', '10.0.0.0/8']) readConfig({ ...production, TRUST_PROXY });
});
