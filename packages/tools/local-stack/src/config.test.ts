import { join } from 'node:path';
import { CHECKOUT, readConfig } from './config.ts';

test('uses the defaults for absent and empty variables', () => {
  const expected = { GATEWAY_PORT: 4000, KAFKA_PORT: 9092, HOST: '127.0.0.1', DATA_DIR: join(CHECKOUT, '.data') };
  expect(readConfig({})).toMatchObject(expected);
  expect(readConfig({ GATEWAY_PORT: '', DATA_DIR: '', HOST: '' })).toMatchObject(expected);
});

test('names all invalid variables in one error', () => {
  const env = { GATEWAY_PORT: '70000', ORDERS_PORT: 'x', PORT_OFFSET: '1.5', ENVIRONMENT: 'production' };
  expect(() => readConfig(env)).toThrow(
    /PORT_OFFSET: .*\n.*GATEWAY_PORT: .*\n.*ORDERS_PORT: must be a port number\n.*ENVIRONMENT: /,
  );
});

test.each(['short', `ak_live_${'a'.repeat(40)}`, `ak_sandbox_${'a'.repeat(31)}`, `ak_sandbox_${'-'.repeat(40)}`])(
  'rejects the sandbox key %s',
  (key) =>
    expect(() => readConfig({ SANDBOX_API_KEY: key })).toThrow(/SANDBOX_API_KEY: must be ak_sandbox_ followed by 32/),
);
