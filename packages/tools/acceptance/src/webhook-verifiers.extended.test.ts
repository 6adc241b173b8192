import { verify } from '@cpg/webhook-verifier';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { PackageUnavailableError } from './harness/pypi.ts';
import { type PythonVerifier, pythonVerifier } from './harness/python-verifier.ts';
import { type Attempt, type Receiver, startReceiver } from './harness/receiver.ts';
import { type Stack, startStack } from './harness/stack.ts';

let stack: Stack;
let shop: Shop;
let receiver: Receiver;
let secret: string;
let next: string;
let attempt: Attempt;

// A real delivery during the rotation of the secret.
beforeAll(async () => {
  stack = await startStack();
  [shop, receiver] = await Promise.all([openShop(stack), startReceiver()]);
  const webhook = await shop.api.createWebhook({ url: receiver.urlOf('/hook'), events: ['order:created'] });
  secret = webhook.secret;
  next = (await shop.api.rotateSecret(webhook.id)).secret;
  await shop.api.updateWebhook(webhook.id, { is_enabled: true });
  // Non-ASCII text: all verifiers must hash the same bytes.
  await shop.api.createOrder(orderBody({ external_reference_id: 'Köln – 注文 №1 🧾' }));
  attempt = (await receiver.attempts('/hook', 1))[0]!;
}, 120_000);
afterAll(async () => {
  await Promise.all([shop?.api.close(), receiver?.close()]);
  await stack?.stop();
});

const only = (name: RegExp) =>
  Object.fromEntries(Object.entries(attempt.headers).filter(([header]) => name.test(header)));
const tampered = () => attempt.rawBody.replace('order:created', 'order:paid');

test('@cpg/webhook-verifier accepts a delivery with either header format and either secret', () => {
  for (const headers of [attempt.headers, only(/^x-/), only(/^webhook-/), new Headers(attempt.headers)])
    for (const key of [secret, next, [next, secret]])
      expect(verify(attempt.rawBody, headers, key)).toMatchObject({
        id: attempt.headers['x-idempotency-key'],
        event: 'order:created',
        data: { external_reference_id: 'Köln – 注文 №1 🧾' },
      });
  expect(() => verify(tampered(), attempt.headers, secret)).toThrow(
    expect.objectContaining({ fault: 'signature_mismatch' }) as Error,
  );
});

test('standardwebhooks for JavaScript accepts a delivery', () => {
  for (const key of [secret, next])
    expect(new StandardWebhook(key).verify(attempt.rawBody, attempt.headers)).toEqual(JSON.parse(attempt.rawBody));
  expect(() => new StandardWebhook(secret).verify(tampered(), attempt.headers)).toThrow();
});

const python: PythonVerifier | PackageUnavailableError = await pythonVerifier().catch((error: unknown) => {
  if (error instanceof PackageUnavailableError) return error;
  throw error;
});
const testPython = python instanceof PackageUnavailableError ? test.skip : test;

const skipReason = python instanceof PackageUnavailableError ? ` (${python.message})` : '';

testPython(`standardwebhooks for Python accepts a delivery${skipReason}`, async () => {
  const check = python as PythonVerifier;
  for (const key of [secret, next]) expect(await check(attempt, key)).toEqual(JSON.parse(attempt.rawBody));
  await expect(check({ ...attempt, rawBody: tampered() }, secret)).rejects.toThrow(/refused/);
});
