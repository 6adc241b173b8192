import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { MerchantCreateOrderDto } from '@cpg/contracts';
import { banner, createOrderCommand, createPaymentLink, DEMO_ORDER, SAMPLE_ORDER } from './banner.ts';

const addresses = {
  dataDir: '/data',
  baseUrl: 'http://127.0.0.1:4000',
  apiKey: `ak_sandbox_${'a'.repeat(40)}`,
  merchantId: 'mer_01JB0000000000000000000000',
  signInPath: '/dashboard/sign-in#link=Q3Yx',
  eventstoreUrl: 'esdb://admin:pass@127.0.0.1:2113?tls=false',
  kafkaBrokers: '127.0.0.1:9092',
  databaseUrl: 'postgres://postgres:pass@127.0.0.1:5433/app',
};

test('the printed command sends the sample order with curl', () => {
  const shown = execFileSync('bash', ['-c', `curl() { printf '%s' "\${@: -1}"; }\n${createOrderCommand(addresses)}`]);
  expect(JSON.parse(String(shown))).toEqual(SAMPLE_ORDER);
});

test('says how to pay on the chain, if there is one', () => {
  expect(banner({ ...addresses, chainUrl: 'http://127.0.0.1:8545' }, 1)).toContain('npm run pay -- ORDER_ID');
  expect(banner(addresses, 1)).not.toContain('npm run pay');
});

test('shows a link to pay, if there is one', () => {
  expect(banner(addresses, 1, 'http://127.0.0.1:4000/pay/1')).toContain(
    'Pay as a customer: http://127.0.0.1:4000/pay/1',
  );
  expect(banner(addresses, 1)).not.toContain('/pay/');
});

test('shows URLs without their passwords', () => {
  expect(banner(addresses, 1)).toContain('postgres://127.0.0.1:5433/app');
  expect(banner(addresses, 1)).not.toContain('pass@');
  const databaseUrl = 'postgres://cpg:zq@zq/zq#zq@127.0.0.1:5433/app';
  expect(banner({ ...addresses, databaseUrl }, 1)).toContain('postgres://127.0.0.1:5433/app');
  expect(banner({ ...addresses, databaseUrl }, 1)).not.toContain('zq');
});

let server: Server;
let answer: { status: number; body: unknown };
const requests: { path: string | undefined; key: unknown; body: unknown }[] = [];

beforeAll(async () => {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push({ path: request.url, key: request.headers['x-api-key'], body: await json(request) });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  };
  server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => void server.close());

const link = () => {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createPaymentLink({ baseUrl, apiKey: 'ak_sandbox_1' });
};

test('creates an order and returns the page on which it is paid', async () => {
  const instructions = [{ rail: 'crypto_deposit' }, { rail: 'gateway_pay', payment_url: 'http://127.0.0.1/pay/1' }];
  answer = { status: 201, body: { deposit_instructions: instructions } };
  expect(await link()).toBe('http://127.0.0.1/pay/1');
  expect(requests).toEqual([{ path: '/v1/orders', key: 'ak_sandbox_1', body: DEMO_ORDER }]);
});

test.each([
  ['is refused', { status: 503, body: { code: 'rate_unavailable' } }],
  ['has no page yet', { status: 201, body: { deposit_instructions: [] } }],
])('has no link when the order %s', async (_, given) => {
  answer = given;
  expect(await link()).toBeNull();
});

test.each(Object.entries({ SAMPLE_ORDER, DEMO_ORDER }))('%s is valid', (_, order) =>
  expect(MerchantCreateOrderDto.safeParse(order)).toMatchObject({ success: true }),
);
