import { AppError } from '@cpg/contracts';
import type { InternalClient } from '@cpg/platform';
import { ordersClient } from './orders/orders-client.ts';
import { paymentsClient } from './payments/payments-client.ts';
import { webhookDispatcherClient } from './webhooks/webhook-dispatcher-client.ts';

const context = { actor: 'key:abc', requestId: 'req_1', correlationId: 'cor_1' };
const ORDER = { orderId: 'ord_1', merchantId: 'mer_1' };
const OWNER = { merchant_id: 'mer_1' };
const BODY = { some: 'body' } as never;
const REPORT = { order_id: 'ord_1' } as never;

/** Clients whose calls are kept and answered by `answer`. */
const clientsOf = (answer: (method: string, path: string) => unknown = () => undefined) => {
  const calls: { method: string; path: string; options: Record<string, unknown> }[] = [];
  const call = async (method: string, path: string, options: Record<string, unknown>) => {
    calls.push({ method, path, options });
    return answer(method, path);
  };
  const client = { call, callForText: call } as unknown as InternalClient;
  return {
    calls,
    orders: ordersClient(client),
    payments: paymentsClient(client),
    dispatcher: webhookDispatcherClient(client),
  };
};
type Clients = Omit<ReturnType<typeof clientsOf>, 'calls'>;

const RESPONSE = { response: expect.anything() };

const CALLS: Record<string, [call: (clients: Clients) => Promise<unknown>, request: string, options: object]> = {
  'orders.update': [
    ({ orders }) => orders.update(ORDER, BODY, context),
    'PATCH /orders/ord_1',
    { ...RESPONSE, body: { ...OWNER, changes: BODY } },
  ],
  'orders.cancel': [
    ({ orders }) => orders.cancel(ORDER, { if_unpaid: true }, context),
    'POST /orders/ord_1/cancel',
    { ...RESPONSE, body: { ...OWNER, if_unpaid: true } },
  ],
  'orders.capture': [
    ({ orders }) => orders.capture(ORDER, context),
    'POST /orders/ord_1/capture',
    { ...RESPONSE, body: OWNER },
  ],
  'orders.accept': [
    ({ orders }) => orders.accept(ORDER, { reason: 'close enough' }, context),
    'POST /orders/ord_1/accept',
    { ...RESPONSE, body: { ...OWNER, reason: 'close enough' } },
  ],
  'orders.refund': [
    ({ orders }) => orders.refund(ORDER, { order_refund_id: 'orf_1', amount: '5' }, context),
    'POST /orders/ord_1/refund',
    { ...RESPONSE, body: { ...OWNER, order_refund_id: 'orf_1', amount: '5' } },
  ],
  'orders.advanceTime': [
    ({ orders }) => orders.advanceTime('ord_1', BODY, context),
    'POST /orders/ord_1/time',
    { ...RESPONSE, body: BODY },
  ],
  'orders.remove': [
    ({ orders }) => orders.remove(ORDER, context),
    'DELETE /orders/ord_1',
    { ...RESPONSE, body: OWNER },
  ],
  'orders.history': [
    ({ orders }) => orders.history('ord_1', BODY, context),
    'GET /orders/ord_1/history',
    { ...RESPONSE, query: BODY },
  ],
  'orders.at': [
    ({ orders }) => orders.at('ord_1', 'an instant', context),
    'GET /orders/ord_1/state',
    { ...RESPONSE, query: { at: 'an instant' } },
  ],
  'orders.summary': [({ orders }) => orders.summary('ord_1', context), 'GET /orders/ord_1/summary', RESPONSE],
  'orders.currencies': [({ orders }) => orders.currencies(context), 'GET /currencies', RESPONSE],
  'payments.register': [
    ({ payments }) => payments.register(REPORT, context),
    'POST /payments',
    { ...RESPONSE, body: REPORT, idempotent: false },
  ],
  'payments.receiveCallback': [
    ({ payments }) => payments.receiveCallback('a/b', BODY, context),
    'POST /providers/a%2Fb/callbacks',
    { ...RESPONSE, body: BODY },
  ],
  'payments.confirm': [
    ({ payments }) => payments.confirm('pay_1', BODY, context),
    'POST /payments/pay_1/confirmation',
    { ...RESPONSE, body: BODY },
  ],
  'payments.fail': [
    ({ payments }) => payments.fail('pay_1', BODY, context),
    'POST /payments/pay_1/failure',
    { ...RESPONSE, body: BODY },
  ],
  'payments.refund': [
    ({ payments }) => payments.refund('pay_1', BODY, context),
    'POST /payments/pay_1/refunds',
    { ...RESPONSE, body: BODY },
  ],
  'payments.refundRequest': [
    ({ payments }) => payments.refundRequest('rfd_1', BODY, context),
    'POST /refunds/rfd_1/request',
    { ...RESPONSE, body: BODY },
  ],
  'payments.cancelRefund': [
    ({ payments }) => payments.cancelRefund('rfd_1', 'mer_1', context),
    'POST /refunds/rfd_1/cancel',
    { ...RESPONSE, body: { merchant_id: 'mer_1' } },
  ],
  'payments.issueRefundClaim': [
    ({ payments }) => payments.issueRefundClaim('rfd_1', BODY, context),
    'POST /refunds/rfd_1/claim',
    { ...RESPONSE, body: BODY },
  ],
  'payments.claimedRefund': [({ payments }) => payments.claimedRefund('0a', context), 'GET /claims/0a', RESPONSE],
  'payments.checkClaimAddress': [
    ({ payments }) => payments.checkClaimAddress('0a', BODY, context),
    'POST /claims/0a/check',
    { ...RESPONSE, body: BODY },
  ],
  'payments.confirmClaimAddress': [
    ({ payments }) => payments.confirmClaimAddress('0a', BODY, context),
    'POST /claims/0a/confirm',
    { ...RESPONSE, body: BODY },
  ],
  'payments.availability': [
    ({ payments }) => payments.availability(context),
    'GET /availability',
    { ...RESPONSE, timeoutMs: 1_000, connectRetryMs: 0 },
  ],
  'payments.depositSettings': [
    ({ payments }) => payments.depositSettings('mer_1', context),
    'GET /merchants/mer_1/deposit-settings',
    RESPONSE,
  ],
  'payments.changeDepositSettings': [
    ({ payments }) => payments.changeDepositSettings('mer_1', BODY, context),
    'POST /merchants/mer_1/deposit-settings',
    { ...RESPONSE, body: BODY },
  ],
  'payments.pageAddresses': [({ payments }) => payments.pageAddresses('a/b', context), 'GET /pages/a%2Fb', RESPONSE],
  'payments.history': [
    ({ payments }) => payments.history('ord_1', BODY, context),
    'GET /orders/ord_1/history',
    { ...RESPONSE, query: BODY },
  ],
  'dispatcher.sendTest': [
    ({ dispatcher }) => dispatcher.sendTest(BODY, context),
    'POST /test-deliveries',
    { ...RESPONSE, body: BODY, idempotent: false },
  ],
  'dispatcher.redeliver': [
    ({ dispatcher }) => dispatcher.redeliver('whk_1', 'dlv_1', context),
    'POST /webhooks/whk_1/deliveries/dlv_1/redelivery',
    { ...RESPONSE, idempotent: false },
  ],
  'dispatcher.replay': [
    ({ dispatcher }) => dispatcher.replay('whk_1', BODY, context),
    'POST /webhooks/whk_1/replays',
    { ...RESPONSE, body: BODY },
  ],
  'dispatcher.cancelReplay': [
    ({ dispatcher }) => dispatcher.cancelReplay('whk_1', 'rpl_1', context),
    'POST /webhooks/whk_1/replays/rpl_1/cancel',
    RESPONSE,
  ],
  'dispatcher.failQueuedDeliveries': [
    ({ dispatcher }) => dispatcher.failQueuedDeliveries('whk_1', context),
    'DELETE /webhooks/whk_1/deliveries',
    RESPONSE,
  ],
};

test.each(Object.entries(CALLS))('%s sends its request with the context', async (_, [send, request, options]) => {
  const { calls, ...clients } = clientsOf();
  await send(clients);
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([request]);
  expect(calls[0]!.options).toEqual({ context, ...options });
});

test('the table has every call of every client', () => {
  const { calls: _, ...clients } = clientsOf();
  const names = Object.entries(clients).flatMap(([name, client]) =>
    Object.keys(client).map((call) => `${name}.${call}`),
  );
  expect(names.filter((name) => name !== 'orders.create').sort()).toEqual(Object.keys(CALLS).sort());
});

test('a report of a payment may be repeated if it cannot reinstate a failed payment', async () => {
  const { calls, payments } = clientsOf();
  await payments.register({ reinstates: false } as never, context);
  expect(calls[0]!.options).toMatchObject({ idempotent: true });
});

const failing = (code: 'not_found' | 'rate_limited') =>
  clientsOf(() => {
    throw new AppError(code, 'of the service');
  });

test.each(['update', 'cancel', 'advanceTime', 'remove'])(
  'an order that %s does not find is the 404 of the API',
  async (name) => {
    const [send] = CALLS[`orders.${name}`]!;
    await expect(send(failing('not_found'))).rejects.toMatchObject({
      code: 'not_found',
      message:
        'no order has this id. The order may be deleted, or belong to another merchant. An id starts with "ord_".',
    });
    await expect(send(failing('rate_limited'))).rejects.toMatchObject({ message: 'of the service' });
  },
);

test.each(['confirm', 'fail', 'refund'])('a payment that %s does not find is the 404 of the API', async (name) => {
  const [send] = CALLS[`payments.${name}`]!;
  await expect(send(failing('not_found'))).rejects.toMatchObject({
    message:
      'no payment has this id. The payment may be deleted, or belong to another merchant. An id starts with "pay_".',
  });
  await expect(send(failing('rate_limited'))).rejects.toMatchObject({ message: 'of the service' });
});

test.each(['refundRequest', 'cancelRefund', 'issueRefundClaim'])(
  'a refund that %s does not find is the 404 of the API',
  async (name) => {
    const [send] = CALLS[`payments.${name}`]!;
    await expect(send(failing('not_found'))).rejects.toMatchObject({
      message: expect.stringMatching(/^no refund has this id/),
    });
    await expect(send(failing('rate_limited'))).rejects.toMatchObject({ message: 'of the service' });
  },
);

test.each(['orders.at', 'orders.summary'])('%s finds null where there is no order', async (name) => {
  const [send] = CALLS[name]!;
  expect(await send(failing('not_found'))).toBeNull();
});

describe('a created order', () => {
  const call = { order_id: 'ord_1' } as Parameters<Clients['orders']['create']>[0];

  test.each([
    [{}, '/orders/ord_1', false],
    [{ location: '/orders/ord_2', 'idempotency-replayed': 'true' }, '/orders/ord_2', true],
  ])('has its text and its path, by the headers %j', async (headers, path, isRepeat) => {
    const { calls, orders } = clientsOf(() => ({ text: 'text', headers }));
    expect(await orders.create(call, context)).toEqual({ text: 'text', path, isRepeat });
    expect(calls).toEqual([{ method: 'POST', path: '/orders', options: { context, body: call } }]);
  });

  test.each([
    ['not_found', false, 'order_deleted'],
    ['not_found', true, 'not_found'],
    ['rate_limited', false, 'rate_limited'],
  ] as const)('that the service refuses with %s, only as a repeat: %s, is %s', async (code, only_repeat, expected) => {
    const { orders } = failing(code);
    const created = orders.create({ ...call, ...(only_repeat && { only_repeat }) }, context);
    await expect(created).rejects.toMatchObject({ code: expected });
  });
});
