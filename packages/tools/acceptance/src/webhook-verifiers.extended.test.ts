import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { verify } from '@cpg/sdk/webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { installFromPyPi, PackageUnavailableError } from './harness/pypi.ts';
import { type Attempt, type Delivered, type Receiver, startReceiver } from './harness/receiver.ts';
import { type Stack, startStack } from './harness/stack.ts';

const PACKAGE = { name: 'standardwebhooks', version: '1.1.0', pythonAtLeast: [3, 9] } as const;

const RECEIVE = readFileSync(new URL('../clients/python/receive.py', import.meta.url), 'utf8');

// Reads {secret, headers, rawBody}, and prints the event that the example of the guide returns.
const PROGRAM = `
${RECEIVE}
import sys
from standardwebhooks.webhooks import WebhookVerificationError
given = json.load(sys.stdin)
try:
    print(json.dumps(receive(given["rawBody"], given["headers"], given["secret"])[0]))
except WebhookVerificationError as error:
    print(error, file=sys.stderr)
    sys.exit(1)
`;

/** Verifies a delivery with standardwebhooks for Python. Rejects with its message if the delivery is invalid. */
type PythonVerifier = (delivered: Delivered, secret: string) => Promise<unknown>;

/** Throws PackageUnavailableError if Python is missing or the library cannot be installed. */
const pythonVerifier = async (): Promise<PythonVerifier> => {
  const python = join(await installFromPyPi(PACKAGE), 'python');
  return async ({ headers, rawBody }, secret) => {
    const child = spawn(python, ['-c', PROGRAM], { stdio: 'pipe', timeout: 20_000 });
    child.stdin.end(JSON.stringify({ secret, headers, rawBody }));
    const ended = new Promise<number | null>((done, fail) => child.once('error', fail).once('close', done));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code !== 0) throw new Error(`python refused it: ${err.trim()}`);
    return JSON.parse(out);
  };
};

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
});
afterAll(async () => {
  await Promise.all([shop?.api.close(), receiver?.close()]);
  await stack?.stop();
});

const only = (name: RegExp) =>
  Object.fromEntries(Object.entries(attempt.headers).filter(([header]) => name.test(header)));
const tampered = () => attempt.rawBody.replace('order:created', 'order:paid');

test('@cpg/sdk/webhooks accepts a delivery with either header format and either secret', () => {
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
