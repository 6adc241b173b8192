import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const EXAMPLES = ['node', 'fastify', 'express'] as const;

/** The HTTP server of each example. */
const serverOf: Record<(typeof EXAMPLES)[number], (example: never) => Promise<Server>> = {
  node: async ({ server }: { server: Server }) => server,
  fastify: async ({ app }: { app: { ready: () => Promise<unknown>; server: Server } }) => {
    await app.ready();
    return app.server;
  },
  express: async ({ app }: { app: RequestListener }) => createServer(app),
};

test.each([...EXAMPLES, 'store'])('the example %s is shown in the document', (name) => {
  const code = readFileSync(pathOf(`examples/webhooks/${name}.mjs`), 'utf8');
  expect(readFileSync(pathOf('webhooks.md'), 'utf8')).toContain(`\`\`\`js\n${code}\`\`\``);
});

describe.each(EXAMPLES)('the example for %s', (name) => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const body = '{"event":"order:paid","object_type":"order","timestamp":1,"data":{"external_reference_id":"cart-1"}}';
  let server: Server;
  const { log } = console;
  let logged: unknown[] = [];
  beforeAll(async () => {
    process.env.WEBHOOK_SECRET = secret;
    server = await serverOf[name]((await import(pathOf(`examples/webhooks/${name}.mjs`))) as never);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    console.log = (text: unknown) => void logged.push(text);
  });
  beforeEach(() => {
    logged = [];
  });
  afterAll(async () => {
    console.log = log;
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  const deliver = async (sent: string, signed = body) => {
    const at = Math.floor(Date.now() / 1_000);
    const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`evt_1.${at}.${signed}`)
      .digest('hex');
    const headers = {
      'content-type': 'application/json',
      'x-idempotency-key': 'evt_1',
      'x-signature': `t=${at},v1=${mac}`,
    };
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    return (await fetch(url, { method: 'POST', headers, body: sent })).status;
  };

  test('accepts a delivery of the gateway and acts on it', async () => {
    expect(await deliver(body)).toBe(204);
    expect(logged).toEqual(['cart-1 is paid']);
  });

  test('accepts the largest body that the gateway sends', async () => {
    const largest = body.replace('cart-1', 'c'.repeat(1_000_000 - body.length));
    expect(await deliver(largest, largest)).toBe(204);
  });

  test('refuses a changed body', async () => {
    expect(await deliver(body.replace('cart-1', 'cart-2'))).toBe(400);
    expect(logged).toEqual([]);
  });
});
