import { randomBytes } from 'node:crypto';
import { guessableSecrets, SecretList, sharedSecrets } from './secrets.ts';

const RANDOM = randomBytes(32).toString('hex');

test('a list of secrets is accepted when each one is long and none is a placeholder', () => {
  const other = randomBytes(32).toString('base64url');
  expect(SecretList.parse(`${RANDOM}, ${other}`)).toEqual([RANDOM, other]);
  for (const wrong of [`${RANDOM},short`, '', ',', `${RANDOM},${'change-me-'.repeat(4)}`])
    expect(SecretList.safeParse(wrong).success).toBe(false);
});

test.each([
  ['GATEWAY_TO_ORDERS_TOKEN', 'a'.repeat(64)],
  ['METRICS_TOKEN', 'ab'.repeat(32)],
  ['API_KEY_PEPPER', '0123456789abcdef'.repeat(4)],
  ['API_KEY_PEPPER', `${RANDOM},${'secret'.repeat(8)}`],
  ['WEBHOOK_ENCRYPTION_KEY', '12345'.repeat(10)],
  ['DATABASE_URL', 'postgres://cpg:postgres@db.internal/cpg'],
  ['DATABASE_URL', 'postgres://cpg:@db.internal/cpg'],
  ['EVENTSTORE_URL', 'esdb+discover://admin:changeit@store.internal:2113?tls=true'],
  ['KAFKA_SASL_PASSWORD', 'admin-secret'],
])('production refuses %s=%s without showing it', (name, value) => {
  const faults = guessableSecrets({ [name]: value });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(new RegExp(`^${name}: `));
  expect(faults[0]).not.toContain(value);
});

test('production accepts random secrets, and addresses without a password', () => {
  expect(
    guessableSecrets({
      ORDERS_TO_PAYMENTS_TOKEN: RANDOM,
      API_KEY_PEPPER: `${RANDOM},${randomBytes(24).toString('base64')}`,
      DATABASE_URL: `postgres://cpg:${RANDOM}@db.internal/cpg`,
      EVENTSTORE_URL: 'esdb://store.internal:2113?tls=true',
      KAFKA_SASL_PASSWORD: RANDOM,
    }),
  ).toEqual([]);
  expect(guessableSecrets({ DATABASE_URL: 'postgres://cpg@db.internal/cpg' })).toEqual([]);
});

test('no two secrets may have the same value', () => {
  const other = randomBytes(32).toString('hex');
  const env = { GATEWAY_TO_ORDERS_TOKEN: RANDOM, METRICS_TOKEN: `${other}, ${RANDOM}`, API_KEY_PEPPER: `${other},` };
  expect(sharedSecrets(env)).toEqual([
    'METRICS_TOKEN: has a value of GATEWAY_TO_ORDERS_TOKEN: generate one of its own',
    'API_KEY_PEPPER: has a value of METRICS_TOKEN: generate one of its own',
  ]);
  expect(sharedSecrets({ GATEWAY_TO_ORDERS_TOKEN: RANDOM, METRICS_TOKEN: other, LOG_LEVEL: RANDOM })).toEqual([]);
});
