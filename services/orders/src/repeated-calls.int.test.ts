import { newRequestId } from '@cpg/runtime';
import { MERCHANT, type OrdersService, startOrders } from './testing/jest-orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

const owner = { merchant_id: MERCHANT };
const typesOf = async (id: string) => (await service.recordedOf(id))!.map(({ event }) => event.type);

test.each<[string, 'PATCH' | 'POST', string, object, string]>([
  ['an update', 'PATCH', '', { ...owner, changes: { metadata: { table: 'B7' } } }, 'OrderUpdated'],
  ['an advance of the clock', 'POST', '/time', { minutes: 10 }, 'OrderTimeAdvanced'],
])('%s that is sent again with its request id is recorded once', async (_, method, path, body, type) => {
  const { id } = await service.create();
  const request = { 'x-request-id': newRequestId() };
  const send = (headers: object = request) => service.call(method, `/orders/${id}${path}`, body, headers);
  const answers = await Promise.all([send(), send()]);
  expect(await send()).toEqual(answers[0]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(await typesOf(id)).toEqual(['OrderCreated', type]);
  await send({});
  expect(await typesOf(id)).toEqual(['OrderCreated', type, type]);
});
