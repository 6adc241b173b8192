import { ConfigError } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import { healthRoutes } from './health.ts';
import { createApp } from './app.ts';

test('readiness is checked once a second, however many requests there are', async () => {
  let checks = 0;
  let isReady = true;
  let nowMs = 0;
  const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
  const check = async () => {
    checks += 1;
    if (!isReady) throw new Error('unavailable');
  };
  healthRoutes(app, { database: check }, { nowMs: () => nowMs });
  const ready = async () => (await app.inject('/health/ready')).statusCode;
  expect(await Promise.all([ready(), ready(), ready()])).toEqual([200, 200, 200]);
  isReady = false;
  nowMs = 999;
  expect({ status: await ready(), checks }).toEqual({ status: 200, checks: 1 });
  nowMs = 1_000;
  expect(await Promise.all([ready(), ready()])).toEqual([503, 503]);
  expect(checks).toBe(2);
  await app.close();
});

test('readiness names the failed checks, and how to correct a wrong setting', async () => {
  const app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
  healthRoutes(app, {
    database: async () => {},
    eventstore: async () => {
      throw new Error('unavailable', { cause: new ConfigError('correct the password') });
    },
    kafka: async () => {
      throw new Error('connect ECONNREFUSED 10.0.0.1:9092');
    },
  });
  const response = await app.inject('/health/ready');
  expect([response.statusCode, response.json()]).toEqual([
    503,
    { status: 'unavailable', missing: ['eventstore', 'kafka'], corrections: ['correct the password'] },
  ]);
  await app.close();
});
