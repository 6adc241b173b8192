import { createPool, databaseDependency, POSTGRES } from '@cpg/platform/postgres';
import { createLogger, createOutages, createServiceMetrics, newId } from '@cpg/platform';
import { allowedCallers } from '@cpg/platform/testing';
import { buildApp } from './app.ts';
import type { ReadStatusOf } from './chains/chain-status.ts';
import { TOKENS } from './testing/jest-fixtures.ts';

const log = createLogger({ name: 'payments', level: 'silent' });
const notCalled = async () => {
  throw new Error('not called');
};

const UNUSED: Parameters<typeof buildApp>[0] = {
  gate: { waitUntilOpen: async () => {} },
  tokens: TOKENS,
  sandbox: true,
  availability: notCalled,
  instructions: notCalled,
  stock: notCalled,
  register: notCalled,
  receiveCallback: notCalled,
  askLast: notCalled,
  pageAddresses: notCalled,
  changes: { confirm: notCalled, fail: notCalled, refund: notCalled, changeRefund: notCalled },
  requestedRefunds: { request: notCalled, paymentRequest: notCalled, cancel: notCalled },
  refundClaims: { issue: notCalled, show: notCalled, check: notCalled, confirm: notCalled },
  orderRefunds: { refundable: notCalled, record: notCalled },
  commands: { recordOutcomes: notCalled },
  deletePayments: notCalled,
  unsettledPayment: notCalled,
  paymentIdsOf: notCalled,
  readStatusOf: notCalled,
  history: { messagesOf: notCalled, entriesOf: notCalled },
  depositSettings: { show: notCalled, change: notCalled },
  log,
  checks: {},
};

const PRODUCTION = {
  'POST /instructions': ['orders'],
  'GET /availability': ['gateway', 'orders'],
  'POST /stock': ['orders'],
  'POST /payments/:id/refunds': ['gateway'],
  'POST /refunds/:id/request': ['gateway'],
  'POST /refunds/:id/cancel': ['gateway'],
  'POST /refunds/:id/claim': ['gateway'],
  'GET /claims/:hash': ['gateway'],
  'POST /claims/:hash/check': ['gateway'],
  'POST /claims/:hash/confirm': ['gateway'],
  'POST /refundable': ['orders'],
  'POST /order-refunds': ['orders'],
  'POST /outcomes': ['orders'],
  'POST /orders/:id/unsettled-payment': ['orders'],
  'GET /orders/:id/payments': ['orders'],
  'POST /chains/waiting': ['orders'],
  'DELETE /orders/:id/payments': ['orders'],
  'GET /orders/:id/messages': ['webhook-dispatcher'],
  'GET /orders/:id/history': ['gateway', 'admin'],
  'GET /merchants/:id/deposit-settings': ['gateway', 'admin'],
  'POST /merchants/:id/deposit-settings': ['admin'],
  'POST /providers/:name/callbacks': ['gateway'],
  'POST /providers/waiting': ['orders'],
  'GET /pages/:reference': ['gateway'],
};
const { payments: _, ...TOKENS_OF_CALLERS } = TOKENS;

test('each caller is admitted to its own routes, and nobody can invent a payment in production', async () => {
  const app = buildApp({ ...UNUSED, tokens: TOKENS_OF_CALLERS, sandbox: false });
  expect(await allowedCallers(app, TOKENS_OF_CALLERS)).toEqual(PRODUCTION);
});

test('the gateway of a sandbox can simulate payments', async () => {
  const app = buildApp({ ...UNUSED, tokens: TOKENS_OF_CALLERS });
  expect(await allowedCallers(app, TOKENS_OF_CALLERS)).toEqual({
    ...PRODUCTION,
    'POST /payments': ['gateway'],
    'POST /payments/:id/confirmation': ['gateway'],
    'POST /payments/:id/failure': ['gateway'],
  });
});

test('answers 503 with Retry-After during a database outage, and readiness and metrics name the database', async () => {
  const pool = createPool({ url: 'postgres://nobody@127.0.0.1:1/none', name: 'unreachable', log });
  const outages = createOutages(log);
  const app = buildApp({
    ...UNUSED,
    unsettledPayment: async () => {
      await pool.query('select 1');
      return { payment_id: null };
    },
    checks: { postgres: outages.watch(POSTGRES, databaseDependency(pool)) },
    outages,
    metrics: { registry: createServiceMetrics(outages), tokens: ['of Prometheus'] },
  });
  const headers = { authorization: `Bearer ${TOKENS.orders[0]}` };
  const url = `/orders/${newId('order')}/unsettled-payment`;
  const answer = await app.inject({ method: 'POST', url, headers, payload: { held_by_order: [] } });
  expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  expect(answer.json()).toMatchObject({ code: 'dependency_unavailable' });
  expect((await app.inject('/health')).statusCode).toBe(200);
  expect((await app.inject('/health/ready')).json()).toEqual({ status: 'unavailable', missing: ['postgres'] });
  const metrics = await app.inject({ url: '/metrics', headers: { authorization: 'Bearer of Prometheus' } });
  expect(metrics.body).toMatch(/^outages_total\{dependency="postgres"\} 1$/m);
  expect(metrics.body).toMatch(/^refused_requests_total\{dependency="postgres"\} 1$/m);
  outages.stop();
  await app.close();
  await pool.end();
});

test('names the networks that may still show a payment made until an instant to some addresses', async () => {
  const readUntil: Record<string, Date> = { bitcoin: new Date('2026-01-31T12:00:00Z') };
  const readStatusOf: ReadStatusOf = async (network, at, addresses) => {
    if (readUntil[network] && readUntil[network] <= at) return 'unread';
    return addresses.includes('0xA1') && network === 'ethereum' ? 'unreported' : 'reported';
  };
  const app = buildApp({ ...UNUSED, readStatusOf });
  const waitingAt = async (at: string, addresses: string[] = []) => {
    const payload = { networks: ['bitcoin', 'ethereum'], addresses, at };
    const headers = { authorization: `Bearer ${TOKENS.orders[0]}` };
    return (await app.inject({ method: 'POST', url: '/chains/waiting', headers, payload })).json<unknown>();
  };
  expect(await waitingAt('2026-01-31T11:59:59.999Z')).toEqual({ waiting_for: [], unreported: [] });
  expect(await waitingAt('2026-01-31T12:00:00.000Z')).toEqual({ waiting_for: ['bitcoin'], unreported: [] });
  expect(await waitingAt('2026-01-31T12:00:00.000Z', ['0xA1'])).toEqual({
    waiting_for: ['bitcoin', 'ethereum'],
    unreported: ['ethereum'],
  });
  await app.close();
});
