import type { OutcomesCall, PaymentOutcome } from '@cpg/contracts';
import { BODY_LIMIT_BYTES, type InternalClient } from '@cpg/platform';
import { paymentId } from '../testing/orders.ts';
import { paymentsClient } from './payments-client.ts';

const context = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

test('payments hear of any number of outcomes, in calls that they take', async () => {
  const calls: OutcomesCall[] = [];
  const client = {
    call: async (_method: string, _path: string, { body }: { body: OutcomesCall }) => void calls.push(body),
  } as unknown as InternalClient;
  const outcomes = Array.from({ length: 2_500 }, (_, n): PaymentOutcome => ({
    status: 'applied',
    payment_id: paymentId(n),
    applied_minor: '9'.repeat(36),
    unapplied_minor: '9'.repeat(36),
    at: '2026-01-31T12:00:00.000Z',
  }));
  await paymentsClient(client).recordOutcomes(outcomes, context);
  expect(calls.flatMap((call) => call.outcomes)).toEqual(outcomes);
  for (const call of calls) expect(Buffer.byteLength(JSON.stringify(call))).toBeLessThanOrEqual(BODY_LIMIT_BYTES);
});
