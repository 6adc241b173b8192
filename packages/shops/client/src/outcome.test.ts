import { ApiError, ConnectionError } from '@cpg/sdk';
import { ask } from './outcome.ts';

const refusal = (status: number, code: string) =>
  new ApiError(new Response(null, { status }), { code, message: 'no' }, undefined);
const asked = (error: Error) => ask(() => Promise.reject(error));

test('an answer is an outcome', async () => {
  expect(await ask(() => Promise.resolve(7))).toEqual({ ok: true, value: 7 });
});

test.each([
  [409, 'payment_in_progress'],
  [401, 'unauthorized'],
  [404, 'not_found'],
])('a refusal with %i %s keeps its code', async (status, code) => {
  expect(await asked(refusal(status, code))).toEqual({ ok: false, fault: { kind: 'refused', code, message: 'no' } });
});

test.each([
  refusal(503, 'overloaded'),
  refusal(500, 'internal_error'),
  refusal(429, 'rate_limited'),
  refusal(409, 'idempotency_key_in_use'),
  new ApiError(new Response(null, { status: 403 }), '<html>proxy</html>', undefined),
  new ConnectionError('timeout', 'no answer', { cause: undefined, key: 'k' }),
])('%p is an unreachable gateway', async (error) => {
  expect(await asked(error)).toMatchObject({ ok: false, fault: { kind: 'unreachable', code: 'unreachable' } });
});

test('a fault of the program rises', async () => {
  await expect(asked(new TypeError('apiKey is empty'))).rejects.toThrow('apiKey is empty');
});
