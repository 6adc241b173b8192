import type { InternalClient } from '@cpg/platform';
import { paymentsClient } from './payments-client.ts';

const context = { actor: 'key:abc', requestId: 'req_1', correlationId: 'cor_1' };
const report = {
  order_id: 'ord_1',
  rail: 'crypto_deposit',
  provider_id: '0xabc',
  amount: '10',
  currency: 'USDT',
  confirmed: true,
} as const;

test.each([
  ['may be repeated if it cannot reinstate a failed payment', { ...report, reinstates: false }, true],
  ['is sent once if it can', report, false],
])('a report of a payment %s', async (_, payment, idempotent) => {
  const calls: unknown[] = [];
  const client = { call: async (...args: unknown[]) => void calls.push(args) };
  await paymentsClient(client as unknown as InternalClient).register(payment, context);
  expect(calls).toEqual([['POST', '/payments', expect.objectContaining({ body: payment, idempotent })]]);
});
