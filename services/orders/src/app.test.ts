import { createLogger } from '@cpg/platform';
import { allowedCallers } from '@cpg/platform/testing';
import { buildApp } from './app.ts';
import { TOKENS } from './testing/jest-calls.ts';

type Unused = Pick<
  Parameters<typeof buildApp>[0],
  'create' | 'currencies' | 'commands' | 'handler' | 'changes' | 'deletion' | 'refundOrder' | 'runDue' | 'history'
>;

const appOf = (sandbox: boolean) =>
  buildApp({
    tokens: TOKENS,
    gate: { waitUntilOpen: async () => {} },
    sandbox,
    // No call gets so far: its body is missing.
    ...({
      create: {},
      currencies: () => Promise.reject(new Error('no rates')),
      commands: {},
      handler: {},
      changes: {},
      deletion: {},
      refundOrder: {},
      runDue: {},
      history: {},
    } as object as Unused),
    now: () => new Date(0),
    log: createLogger({ name: 'orders', level: 'silent' }),
    checks: {},
  });

const PRODUCTION = {
  'POST /orders': ['gateway'],
  'POST /orders/:id/accept': ['gateway'],
  'GET /currencies': ['gateway'],
  'POST /orders/:id/cancel': ['gateway'],
  'POST /orders/:id/capture': ['gateway'],
  'POST /orders/:id/refund': ['gateway'],
  'PATCH /orders/:id': ['gateway'],
  'DELETE /orders/:id': ['gateway'],
  'GET /orders/:id/summary': ['gateway', 'payments'],
  'POST /orders/:id/payments': ['payments'],
  'POST /orders/:id/payments/:payment_id/failure': ['payments'],
  'POST /orders/:id/payments/:payment_id/refunds': ['payments'],
  'GET /merchants/:id/orders': ['webhook-dispatcher'],
  'GET /orders/:id/messages': ['webhook-dispatcher'],
  'GET /orders/:id/history': ['gateway', 'admin'],
  'GET /orders/:id/state': ['gateway', 'admin'],
};

test('each caller is admitted to its own routes, and nobody else to any', async () => {
  expect(await allowedCallers(appOf(false), TOKENS)).toEqual(PRODUCTION);
});

test('the clock of an order exists in a sandbox alone', async () => {
  const sandbox = { ...PRODUCTION, 'POST /orders/:id/time': ['gateway'] };
  expect(await allowedCallers(appOf(true), TOKENS)).toEqual(sandbox);
});
