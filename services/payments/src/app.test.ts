import { createPool, databaseDependency, POSTGRES } from '@cpg/postgres';
import { createLogger, createOutages, createServiceMetrics, newId } from '@cpg/runtime';
import { buildApp } from './app.ts';

const TOKEN = 'a-token-that-services-share-in-tests';
const log = createLogger({ name: 'payments', level: 'silent' });
const notCalled = async () => {
  throw new Error('not called');
};

test('answers 503 with Retry-After during a database outage, and readiness and metrics name the database', async () => {
  const pool = createPool({ url: 'postgres://nobody@127.0.0.1:1/none', name: 'unreachable', log });
  const outages = createOutages(log);
  const app = buildApp({
    gate: { waitUntilOpen: async () => {} },
    token: TOKEN,
    instructions: notCalled,
    stock: notCalled,
    register: notCalled,
    changes: { confirm: notCalled, fail: notCalled, refund: notCalled },
    commands: { recordOutcomes: notCalled },
    deletePayments: notCalled,
    unsettledPayment: async () => {
      await pool.query('select 1');
      return null;
    },
    history: { messagesOf: notCalled, entriesOf: notCalled },
    log,
    checks: { postgres: outages.watch(POSTGRES, databaseDependency(pool)) },
    outages,
    metrics: createServiceMetrics(outages),
  });
  const headers = { authorization: `Bearer ${TOKEN}` };
  const url = `/orders/${newId('order')}/unsettled-payment`;
  const answer = await app.inject({ method: 'POST', url, headers, payload: { held_by_order: [] } });
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  expect(answer.json()).toMatchObject({ code: 'dependency_unavailable' });
  expect((await app.inject('/health')).statusCode).toBe(200);
  expect((await app.inject('/health/ready')).json()).toEqual({ status: 'unavailable', missing: ['postgres'] });
  const metrics = await app.inject('/metrics');
  expect(metrics.body).toMatch(/^outages_total\{dependency="postgres"\} 1$/m);
  expect(metrics.body).toMatch(/^refused_requests_total\{dependency="postgres"\} 1$/m);
  outages.stop();
  await app.close();
  await pool.end();
});
