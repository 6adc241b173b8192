import { ApiError, type Client, ConnectionError } from '@cpg/sdk';
import { delivery, REGISTERED } from '../testing/jest-deliveries.ts';
import { memoryStore } from '../testing/jest-store.ts';
import { receive } from './receive.ts';

const ORDER = {
  id: 'ord_1',
  status: 'paid',
  metadata: { shop: 'b2c' },
  payments: [],
  total_amount: '1',
  remaining_amount: '0',
  currency: 'USDC',
};
const PAYMENT = { id: 'pay_1', order_id: 'ord_1', status: 'orphan', due_back_amount: '1', currency: 'USDC' };
const orderEvent = (changes: object = {}) => ({
  event: 'order:updated',
  object_type: 'order',
  data: { ...ORDER, status: 'awaiting_payment', ...changes },
});
const paymentEvent = (order: object | undefined) => ({
  event: 'payment:orphaned',
  object_type: 'payment',
  data: PAYMENT,
  order,
});

const setUp = ({ order = ORDER, isRegistered = true }: { order?: object | Error; isRegistered?: boolean } = {}) => {
  const handled: unknown[] = [];
  const answer = (value: unknown) => () => (value instanceof Error ? Promise.reject(value) : Promise.resolve(value));
  const options = {
    client: { getOrder: answer(order), getPayment: answer(PAYMENT) } as unknown as Client,
    store: memoryStore(new Map(isRegistered ? [['webhook', JSON.stringify(REGISTERED)]] : [])),
    shop: 'b2c',
    onOrder: async (given: object, meaning: object) => void handled.push([given, meaning]),
  };
  return { handled, options };
};

test('hands over the order as the gateway has it now, not as the body says', async () => {
  const { options, handled } = setUp();
  expect(await receive(options, ...delivery(orderEvent()))).toMatchObject({ status: 204, result: 'handled' });
  expect(handled).toEqual([[ORDER, expect.objectContaining({ state: 'captured' })]]);
});

test('hands over the order of a payment, with a payment that it does not show', async () => {
  const { options, handled } = setUp();
  const received = await receive(options, ...delivery(paymentEvent({ metadata: { shop: 'b2c' } })));
  expect(received).toMatchObject({ status: 204, result: 'handled' });
  expect(handled).toEqual([
    [ORDER, expect.objectContaining({ decisions: [expect.objectContaining({ kind: 'orphan' })] })],
  ]);
});

test.each([
  ['of another shop', orderEvent({ metadata: { shop: 'b2b' } })],
  ['of no shop', orderEvent({ metadata: undefined })],
  ['of a test', orderEvent({ metadata: { test: true } })],
  ['of money without an order', paymentEvent(undefined)],
  ['of a payment of another shop', paymentEvent({ metadata: { shop: 'b2b' } })],
])('ignores an event %s', async (_name, event) => {
  const { options, handled } = setUp();
  expect(await receive(options, ...delivery(event))).toMatchObject({ status: 204, result: 'ignored' });
  expect(handled).toEqual([]);
});

test('ignores an event of an order that belongs to another shop now', async () => {
  const { options, handled } = setUp({ order: { ...ORDER, metadata: { shop: 'b2b' } } });
  expect(await receive(options, ...delivery(orderEvent()))).toMatchObject({ status: 204, result: 'ignored' });
  expect(handled).toEqual([]);
});

test.each([
  ['another secret', delivery(orderEvent(), `whsec_${Buffer.from('quite another secret').toString('base64')}`)],
  ['another body', [JSON.stringify(orderEvent({ id: 'ord_2' })), delivery(orderEvent())[1]] as const],
  ['no signature', ['{}', {}] as const],
])('refuses a delivery with %s', async (_name, [rawBody, headers]) => {
  const { options, handled } = setUp();
  expect(await receive(options, rawBody, headers)).toMatchObject({ status: 400, result: 'forged' });
  expect(handled).toEqual([]);
});

test('an event before the registration comes again', async () => {
  const { options } = setUp({ isRegistered: false });
  expect(await receive(options, ...delivery(orderEvent()))).toMatchObject({ status: 503, result: 'not_ready' });
});

test('an event while the gateway is unreachable comes again', async () => {
  const { options } = setUp({ order: new ConnectionError('network', 'refused', { cause: undefined, key: undefined }) });
  expect(await receive(options, ...delivery(orderEvent()))).toMatchObject({ status: 503, result: 'unreachable' });
});

test('an event of a deleted order is ignored', async () => {
  const gone = new ApiError(new Response(null, { status: 404 }), { code: 'not_found', message: 'no' }, undefined);
  const { options } = setUp({ order: gone });
  expect(await receive(options, ...delivery(orderEvent()))).toMatchObject({ status: 204, result: 'ignored' });
});

test('an event that the shop could not take comes again', async () => {
  const { options } = setUp();
  const onOrder = () => Promise.reject(new Error('the database is full'));
  const received = await receive({ ...options, onOrder }, ...delivery(orderEvent()));
  expect(received).toMatchObject({
    status: 500,
    result: 'failed',
    message: expect.stringContaining('database is full'),
  });
});
