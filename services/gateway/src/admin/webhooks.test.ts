import { exampleOf, Webhook, WebhookEventType } from '@cpg/contracts';
import { runCommand } from '@cpg/platform/commands/testing';
import { WebhookCreated } from '../api/webhooks/webhook-schemas.ts';
import { errorResponse, startStub, type StubService } from '../testing/jest-stub-service.ts';
import { addWebhooksCommands } from './webhooks.ts';

const KEY = 'ak_sandbox_keyOfTheTests';
const { secret: SECRET } = exampleOf(WebhookCreated);
let api: StubService;
let target: StubService;
let lines: string[];

beforeEach(async () => {
  lines = [];
  api = await startStub(({ method }) =>
    method === 'DELETE'
      ? { status: 200, body: { id: exampleOf(Webhook).id, deleted: true } }
      : { status: method === 'POST' ? 201 : 200, body: { ...exampleOf(Webhook), secret: SECRET } },
  );
  target = await startStub(() => ({ status: 202, body: { accepted: true } }));
});
afterEach(() => Promise.all([api.close(), target.close()]));

const apiOptions = () => ['--api', api.url, '--key', KEY];
const start = (args: string[], environment: 'sandbox' | 'production' = 'sandbox') => {
  const stopping = new AbortController();
  const sandbox = { environment, print: (line: string) => void lines.push(line), signal: stopping.signal };
  const ended = runCommand(
    (program) => addWebhooksCommands(program, (work) => work(sandbox)),
    ['webhooks', ...args],
  ).then(({ output }) => output);
  return { ended, interrupt: () => stopping.abort() };
};
const printed = async (pattern: RegExp) => {
  while (!lines.some((line) => pattern.test(line))) await new Promise((done) => setTimeout(done, 5));
};
const listening = async (args: string[] = []) => {
  const session = start(['listen', '--forward', `${target.url}/hook?a=b`, ...apiOptions(), ...args]);
  await printed(/Ctrl-C removes/);
  const { url, events } = api.calls[0]!.body as { url: string; events: string[] };
  return { ...session, url, events };
};
const deliver = (url: string) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-idempotency-key': 'evt_1', 'x-signature': 't=1,v1=00' },
    body: ' {"event":"order:paid"}\n',
  });

test('forwards a delivery unchanged and returns the response of the target', async () => {
  const { url, events, interrupt, ended } = await listening(['--events', 'order:paid,payment:applied']);
  expect(events).toEqual(['order:paid', 'payment:applied']);
  const response = await deliver(url);
  expect([response.status, await response.json()]).toEqual([202, { accepted: true }]);
  expect(target.calls).toMatchObject([
    {
      method: 'POST',
      path: '/hook?a=b',
      headers: { 'x-idempotency-key': 'evt_1', 'x-signature': 't=1,v1=00', 'content-length': '24' },
    },
  ]);
  expect(target.calls[0]!.headers.host).toBe(new URL(target.url).host);
  await printed(/order:paid +evt_1 {2}202 in \d+ ms$/);

  interrupt();
  expect(await ended).toBe(`webhook ${exampleOf(Webhook).id} is removed`);
  expect(api.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/webhooks',
    `PATCH /v1/webhooks/${exampleOf(Webhook).id}`,
    `DELETE /v1/webhooks/${exampleOf(Webhook).id}`,
  ]);
  expect(api.calls.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true);
  await expect(deliver(url)).rejects.toThrow();
});

test('listens for all events by default and prints the secret', async () => {
  const { events, interrupt, ended } = await listening();
  expect(events).toEqual(WebhookEventType.options);
  expect(lines).toContain(`the signing secret is ${SECRET}`);
  interrupt();
  await ended;
});

test('returns 502 when the target does not respond, so that the delivery is retried', async () => {
  const { url, interrupt, ended } = await listening();
  await target.close();
  expect((await deliver(url)).status).toBe(502);
  await printed(/no response from the target \(.*ECONNREFUSED.*\); returned 502 so that the delivery is retried$/);
  interrupt();
  await ended;
});

test('removes the webhook when it cannot be enabled', async () => {
  const respond = api.respond;
  api.respond = (call) =>
    call.method === 'PATCH' ? errorResponse(503, 'dependency_unavailable', 'try again') : respond(call);
  await expect(start(['listen', '--forward', target.url, ...apiOptions()]).ended).rejects.toThrow(
    /returned 503: try again/,
  );
  expect(api.calls.at(-1)).toMatchObject({ method: 'DELETE' });
});

test('reports the first error and the webhook left behind when it can neither be enabled nor removed', async () => {
  const respond = api.respond;
  api.respond = (call) =>
    call.method === 'POST' ? respond(call) : errorResponse(503, 'dependency_unavailable', `${call.method} failed`);
  const { ended } = start(['listen', '--forward', target.url, ...apiOptions()]);
  await expect(ended).rejects.toThrow(/^PATCH .* returned 503: PATCH failed\ncannot remove webhook /);
  await expect(ended).rejects.toThrow(`run: npm run admin -- webhooks remove ${exampleOf(Webhook).id}`);
});

test('remove deletes a webhook by its id', async () => {
  expect(await start(['remove', 'whk_1', ...apiOptions()]).ended).toBe('webhook whk_1 is removed');
  expect(api.calls).toMatchObject([{ method: 'DELETE', path: '/v1/webhooks/whk_1' }]);
});

const LISTEN = ['listen', '--forward', 'http://127.0.0.1:1/'];

test('refuses to run in production', async () => {
  await expect(start([...LISTEN, ...apiOptions()], 'production').ended).rejects.toThrow(/sandboxes only/);
});

test.each<[string, string[], RegExp]>([
  ['a live key', [...LISTEN, '--key', 'ak_live_x', '--api', 'http://h'], /sandboxes only/],
  ['no key', [...LISTEN, '--api', 'http://h'], /API key is missing/],
  ['no API URL', [...LISTEN, '--key', KEY], /API URL is missing/],
  ['no forward URL', ['listen', '--key', KEY, '--api', 'http://h'], /required option '--forward <url>' not specified/],
  [
    'a forward URL without http://',
    ['listen', '--forward', '127.0.0.1:3000', '--key', KEY, '--api', 'http://h'],
    /^127\.0\.0\.1:3000 is not an http:\/\/ or https:\/\/ URL$/,
  ],
  [
    'an unknown event',
    [...LISTEN, '--events', 'order:lost', '--key', KEY, '--api', 'http://h'],
    /unknown event: order:lost/,
  ],
  ['an unknown option', [...LISTEN, '--to', 'http://h/'], /unknown option '--to'/],
  ['an invalid API URL', [...LISTEN, '--key', KEY, '--api', '127.0.0.1:4000'], /^127\.0\.0\.1:4000 is not an http/],
  ['an unknown action', ['hear'], /unknown command 'hear'/],
  ['remove without a webhook', ['remove'], /missing required argument 'webhook'/],
  ['remove with two webhooks', ['remove', 'whk_1', 'whk_2'], /too many arguments/],
])('refuses %s and gives the reason', async (_, args, message) => {
  const { ended } = start(args);
  await expect(ended).rejects.toThrow(message);
  expect(api.calls).toEqual([]);
});

test('reports an API that cannot be reached', async () => {
  await api.close();
  await expect(start(['remove', 'whk_1', ...apiOptions()]).ended).rejects.toThrow(
    /^cannot reach http:\/\/127\.0\.0\.1:\d+: /,
  );
});
