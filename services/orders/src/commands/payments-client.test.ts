import { setImmediate } from 'node:timers/promises';
import type { OutcomesCall, PaymentOutcome } from '@cpg/contracts';
import { BODY_LIMIT_BYTES, type InternalClient } from '@cpg/platform';
import { paymentId } from '../testing/orders.ts';
import { paymentsClient } from './payments-client.ts';

const context = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };

test('any number of outcomes is sent, in calls below the body limit', async () => {
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

test('makes no call without outcomes, and one call for as many as fit in one', async () => {
  const calls: OutcomesCall[] = [];
  const client = {
    call: async (_method: string, _path: string, { body }: { body: OutcomesCall }) => void calls.push(body),
  } as unknown as InternalClient;
  const { recordOutcomes } = paymentsClient(client);
  await recordOutcomes([], context);
  expect(calls).toEqual([]);
  await recordOutcomes(
    Array.from({ length: 2_500 }, (_, n) => ({ status: 'received', payment_id: paymentId(n) })),
    context,
  );
  const most = calls[0]!.outcomes;
  calls.length = 0;
  await recordOutcomes(most, context);
  expect(calls).toEqual([{ outcomes: most }]);
});

test('a timer that asks what is still to be read does not wait for payments to come back', async () => {
  const limits: unknown[] = [];
  const call = async (_method: string, path: string, { connectRetryMs, timeoutMs }: Record<string, unknown>) =>
    void limits.push([path, connectRetryMs, timeoutMs]);
  const { chainsWaiting, providersWaiting } = paymentsClient({ call } as unknown as InternalClient);
  await chainsWaiting({ networks: ['ethereum'], addresses: [], at: '2026-01-31T12:00:00.000Z' }, context);
  await providersWaiting({ references: [] }, context);
  expect(limits).toEqual([
    ['/chains/waiting', 0, 3_000],
    ['/providers/waiting', 0, 3_000],
  ]);
});

test('recording outcomes fails if payments does not answer', () => {
  const call = () => Promise.reject(new Error('no answer'));
  const { recordOutcomes } = paymentsClient({ call } as unknown as InternalClient);
  return expect(recordOutcomes([{ status: 'received', payment_id: paymentId(1) }], context)).rejects.toThrow(
    'no answer',
  );
});

test.each<[string, (payments: ReturnType<typeof paymentsClient>) => Promise<void>]>([
  [
    'a refund of an order is recorded',
    ({ recordOrderRefund }) => recordOrderRefund({ order_refund_id: 'orf_1', parts: [] }, context),
  ],
  ['payments are deleted', ({ deletePayments }) => deletePayments('ord_1', context)],
])('%s: resolves only after payments has answered', async (_, work) => {
  let isAnswered = false;
  const call = async () => {
    await setImmediate();
    isAnswered = true;
  };
  await work(paymentsClient({ call } as unknown as InternalClient));
  expect(isAnswered).toBe(true);
});
