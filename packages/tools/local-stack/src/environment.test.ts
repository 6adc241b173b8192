import { readConfig } from './config.ts';
import { serviceEnvironment, stackAddresses, withOwnSecrets } from './environment.ts';
import { planPorts } from './ports.ts';

const SECRETS = {
  API_KEY_PEPPER: 'pepper',
  WEBHOOK_ENCRYPTION_KEY: 'key',
  AUDIT_LOG_KEY: 'signing key',
  INTERNAL_TOKEN: 'secret',
  POSTGRES_PASSWORD: 'password',
};

const environmentWith = (env: NodeJS.ProcessEnv, secrets = SECRETS) => {
  const config = readConfig({});
  const ports = planPorts(config, {});
  return serviceEnvironment(stackAddresses(config, ports, secrets, '/data'), ports, secrets, env);
};

const tokensIn = (env: NodeJS.ProcessEnv): string[] =>
  Object.keys(env).filter((name) => name.endsWith('_TOKEN') && env[name] !== undefined);

test('every token has a value of its own, which stays the same', () => {
  const first: NodeJS.ProcessEnv = environmentWith({});
  const values = tokensIn(first).map((name) => first[name]);
  expect(values).toHaveLength(10);
  expect(new Set(values).size).toBe(10);
  expect(environmentWith({})).toEqual(first);
  const other: NodeJS.ProcessEnv = environmentWith({}, { ...SECRETS, INTERNAL_TOKEN: 'another one' });
  for (const name of tokensIn(first)) expect(other[name]).not.toBe(first[name]);
  expect(environmentWith({ METRICS_TOKEN: 'my own' })).toMatchObject({ METRICS_TOKEN: 'my own' });
});

test('a process gets the tokens that it sends or accepts', () => {
  const all = environmentWith({});
  expect(withOwnSecrets('gateway', all)).toMatchObject({ AUDIT_LOG_KEY: 'signing key' });
  expect(withOwnSecrets('orders', all)).toMatchObject({ AUDIT_LOG_KEY: undefined });
  expect(tokensIn(withOwnSecrets('webhook-dispatcher', all)).sort()).toEqual([
    'GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN',
    'METRICS_TOKEN',
    'WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN',
    'WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN',
  ]);
  expect(tokensIn(withOwnSecrets('kafka', all))).toEqual(['METRICS_TOKEN']);
});

test('a service gets the database role of its own, and none of another service', () => {
  const all = {
    DATABASE_URL: 'owner',
    ORDERS_DATABASE_URL: 'role of orders',
    PAYMENTS_DATABASE_URL: 'role of payments',
  };
  const urlsIn = (process: string) =>
    Object.entries(withOwnSecrets(process, all)).filter(([, url]) => url !== undefined);
  expect(urlsIn('orders')).toEqual([['DATABASE_URL', 'role of orders']]);
  expect(urlsIn('gateway')).toEqual([['DATABASE_URL', 'owner']]);
});
