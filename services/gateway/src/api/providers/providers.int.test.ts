import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ perSecond: 0.01, burst: 6 });
});
afterAll(() => gateway.close());

const RECORDED = { payment_id: 'pay_01KG9Q3D4E5F6G7H8J9K0M1N2P', status: 'applied', has_order: true };
const send = async (payload: string | Buffer, address = '203.0.113.1', type = 'application/json') =>
  gateway.app.inject({
    method: 'POST',
    url: '/v1/providers/acme/payments',
    headers: {
      'content-type': type,
      'x-provider-timestamp': '1',
      'x-provider-signature': 'v1=aa',
      'x-forwarded-for': address,
    },
    payload,
  });

test('passes on the body as it arrived, without a key and before it is parsed', async () => {
  gateway.payments.respond = () => ({ status: 200, body: RECORDED });
  const bodies = ['{ "amount": 12345678901234567890 }', 'not json', Buffer.from([0xff, 0xfe])];
  for (const body of bodies) expect(await send(body)).toMatchObject({ statusCode: 200 });
  expect(await send('{}', '203.0.113.1', 'text/plain')).toMatchObject({ statusCode: 200 });
  const calls = gateway.payments.calls as { path: string; body: Record<string, string> }[];
  expect(calls.map(({ path, body }) => [path, Buffer.from(body.body_base64!, 'base64')])).toEqual(
    [...bodies, '{}'].map((body) => ['/providers/acme/callbacks', Buffer.from(body)]),
  );
  expect(calls[0]!.body).toMatchObject({ timestamp: '1', signature: 'v1=aa' });
});

test('answers 202 for a payment without an order, and passes refusals on', async () => {
  gateway.payments.respond = () => ({ status: 200, body: { ...RECORDED, status: 'orphan', has_order: false } });
  expect(await send('{}', '203.0.113.2')).toMatchObject({ statusCode: 202 });
  for (const [status, code] of [
    [401, 'invalid_signature'],
    [409, 'payment_conflict'],
    [503, 'outcome_unknown'],
  ] as const) {
    gateway.payments.respond = () => errorResponse(status, code);
    const answer = await send('{}', '203.0.113.2');
    expect([answer.statusCode, answer.json().code]).toEqual([status, code]);
  }
});

test('limits the rate per address', async () => {
  gateway.payments.respond = () => ({ status: 200, body: RECORDED });
  const statuses = [];
  for (let n = 0; n < 7; n += 1) statuses.push((await send('{}', '203.0.113.3')).statusCode);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
  expect((await send('{}', '203.0.113.4')).statusCode).toBe(200);
});
