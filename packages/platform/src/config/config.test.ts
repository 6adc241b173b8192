import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError, EventStoreConfig, KafkaConfig, readConfig, ServiceConfig } from './config.ts';

const Config = z.object({ ...ServiceConfig.shape, ...EventStoreConfig.shape, ...KafkaConfig.shape });

const env = {
  ENVIRONMENT: 'production',
  METRICS_TOKEN: '4f8c1e0b7d2a96351c3e5f7a9b0d2c4e',
  DATABASE_URL: 'postgres://cpg:PHsb2Ke8@db.test:5432/cpg?sslmode=verify-full',
  EVENTSTORE_URL: 'esdb+discover://store.test:2113',
  KAFKA_BROKERS: 'one.test:9092, two.test:9092,',
  KAFKA_TLS: 'true',
};

const errorMessageFor = (changes: Record<string, string>): string => {
  try {
    readConfig(Config, { ...env, ...changes });
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
};

test('reads the given variables and fills in the defaults', () => {
  expect(readConfig(Config, env)).toEqual({
    ...env,
    METRICS_TOKEN: [env.METRICS_TOKEN],
    KAFKA_BROKERS: ['one.test:9092', 'two.test:9092'],
    LOG_LEVEL: 'info',
    LOG_SHARDS: 1,
    HOST: '127.0.0.1',
    CAZ_DECIMALS: 18,
    KAFKA_TLS: true,
    KAFKA_PARTITIONS: 12,
    KAFKA_ALLOW_FEWER_REPLICAS: false,
    KAFKA_RETENTION_DAYS: 30,
  });
});

test('reads the TLS and SASL settings of Kafka', () => {
  const security = {
    KAFKA_TLS_CA_FILE: '/run/secrets/ca.pem',
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'orders',
    KAFKA_SASL_PASSWORD: 'p',
  };
  expect(readConfig(Config, { ...env, KAFKA_TLS: 'true', ...security })).toMatchObject({
    KAFKA_TLS: true,
    ...security,
  });
});

test.each<[Record<string, string>, string]>([
  [{ KAFKA_SASL_MECHANISM: 'plain' }, 'KAFKA_SASL_USERNAME: is required with KAFKA_SASL_MECHANISM'],
  [
    { KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' },
    'KAFKA_SASL_MECHANISM: is required with KAFKA_SASL_USERNAME',
  ],
  [{ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: '' }, 'KAFKA_SASL_PASSWORD: is'],
  [{ KAFKA_TLS: 'false', KAFKA_TLS_CA_FILE: '/ca.pem' }, 'KAFKA_TLS_CA_FILE: has no effect without KAFKA_TLS=true'],
])('refuses the half-set %j', (changes, fault) => expect(errorMessageFor(changes)).toMatch(`\n  ${fault}`));

test('production refuses connections that others can read, and a sandbox accepts them', () => {
  const open = { EVENTSTORE_URL: 'esdb://store.test:2113?tls=false' };
  expect(errorMessageFor(open)).toMatch('\n  EVENTSTORE_URL: is not encrypted: remove tls=false, or name its host in');
  expect(errorMessageFor({ ...open, PRIVATE_HOSTS: 'store.test' })).toBe('');
  expect(errorMessageFor({ ...open, ENVIRONMENT: 'sandbox' })).toBe('');
});

describe('a secret in a file', () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'config-'))));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileWith = (text: string) => {
    const path = join(folder, 'secret');
    writeFileSync(path, text);
    return path;
  };

  test('is read without the line feed at its end, and checked as the variable is', () => {
    const { METRICS_TOKEN, ...rest } = env;
    const inFile = { ...rest, METRICS_TOKEN_FILE: fileWith(`${METRICS_TOKEN}\n`) };
    expect(readConfig(Config, inFile).METRICS_TOKEN).toEqual([METRICS_TOKEN]);
    const { DATABASE_URL, ...others } = env;
    const database = fileWith(`${DATABASE_URL}\r\n`);
    expect(readConfig(Config, { ...others, DATABASE_URL_FILE: database }).DATABASE_URL).toBe(DATABASE_URL);
    const guessable = fileWith('x'.repeat(40));
    expect(() => readConfig(Config, { ...rest, METRICS_TOKEN_FILE: guessable })).toThrow(
      'METRICS_TOKEN: is not random',
    );
  });

  test('is refused beside the variable, and where it cannot be read or is empty', () => {
    expect(errorMessageFor({ METRICS_TOKEN_FILE: fileWith('t') })).toMatch('METRICS_TOKEN: is set twice');
    const without = { METRICS_TOKEN: '' };
    expect(errorMessageFor({ ...without, METRICS_TOKEN_FILE: join(folder, 'none') })).toMatch(
      /METRICS_TOKEN_FILE: the file \S+none cannot be read: ENOENT/,
    );
    expect(errorMessageFor({ ...without, METRICS_TOKEN_FILE: fileWith('\n') })).toMatch('is empty');
  });
});

test('treats an empty value as absent', () => {
  expect(readConfig(Config, { ...env, LOG_LEVEL: '', CAZ_DECIMALS: '' })).toMatchObject({
    LOG_LEVEL: 'info',
    CAZ_DECIMALS: 18,
  });
  expect(errorMessageFor({ ENVIRONMENT: '' })).toMatch('ENVIRONMENT: ');
});

test('names all invalid variables in one error', () => {
  let message = '';
  try {
    readConfig(Config, { KAFKA_TLS: 'yes', CAZ_DECIMALS: '19', LOG_LEVEL: 'loud' });
  } catch (error) {
    message = (error as Error).message;
  }
  const named = [...message.matchAll(/^ {2}(\w+): ./gm)].map(([, name]) => name).sort();
  expect(named).toEqual([
    'CAZ_DECIMALS',
    'DATABASE_URL',
    'ENVIRONMENT',
    'EVENTSTORE_URL',
    'KAFKA_BROKERS',
    'KAFKA_TLS',
    'LOG_LEVEL',
    'METRICS_TOKEN',
  ]);
});

test.each([
  ['ENVIRONMENT', 'staging'],
  ['DATABASE_URL', 'mysql://db.test'],
  ['DATABASE_URL', 'db.test'],
  ['EVENTSTORE_URL', 'http://store.test:2113'],
  ['KAFKA_BROKERS', ' , '],
  ['KAFKA_PARTITIONS', '0'],
  ['KAFKA_SASL_MECHANISM', 'md5'],
  ['CAZ_DECIMALS', '1.5'],
])('rejects %s=%j', (name, value) => expect(errorMessageFor({ [name]: value })).toMatch(`\n  ${name}: `));

test.each([
  'too short',
  'change-me-change-me-change-me-change-me',
  'an_EXAMPLE_of_more_than_32_characters',
  'default'.repeat(5),
])('rejects the secret %j without showing it in the message', (METRICS_TOKEN) => {
  expect(errorMessageFor({ METRICS_TOKEN })).toMatch('\n  METRICS_TOKEN: ');
  expect(errorMessageFor({ METRICS_TOKEN })).not.toMatch(METRICS_TOKEN);
});

test('production refuses secrets that anybody could guess, a sandbox accepts them', () => {
  const METRICS_TOKEN = 'x'.repeat(40);
  expect(errorMessageFor({ METRICS_TOKEN })).toMatch('\n  METRICS_TOKEN: is not random');
  expect(errorMessageFor({ METRICS_TOKEN, ENVIRONMENT: 'sandbox' })).toBe('');
});
