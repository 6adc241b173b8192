import { readAssets } from '@cpg/assets';
import { type CreateOrderCall, scalesOf } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import type { CreateOrder as Command, OrderCommand } from '../order/command.ts';
import { orderDecider } from '../order/order.ts';
import type { Order } from '../order/state.ts';
import { capabilities, instruction, MERCHANT_ID, minutesAfterNoon, NOON, orderCreated } from '../testing/orders.ts';
import type { EarlierCreate } from './create-once.ts';
import { type CreateOrderOptions, orderCreation } from './create-order.ts';
import type { Payables } from './payables.ts';

const ORDER_ID = `ord_${'0'.repeat(25)}7`;
const at = (minutes: number) => minutesAfterNoon(minutes).toISOString();
const CONTEXT = { actor: 'key:test', requestId: 'req_test', correlationId: 'req_test' };
const TEA = { name: 'tea', quantity: 1, unit_price: '10', currency: 'USDC' };
const callOf = (order: object, changes: object = {}) =>
  ({
    order_id: ORDER_ID,
    merchant_id: MERCHANT_ID,
    order: {
      external_reference_id: 'cart-1',
      items: [TEA],
      enable_rails: ['gateway_pay'],
      payment_currency: 'USDC',
      capabilities,
      ...order,
    },
    ...changes,
  }) as unknown as CreateOrderCall;

/** Creates an order with rates that are locked for 100 minutes at most. `recorded` is an order that has the id. */
const creating = async (
  call: CreateOrderCall,
  { payables, recorded }: { payables?: Payables; recorded?: Order } = {},
) => {
  const commands: OrderCommand[] = [];
  const handled: unknown[] = [];
  const projected: unknown[] = [];
  const asked: unknown[] = [];
  const handle = async (
    id: string,
    command: OrderCommand,
    context: unknown,
    options: { beforeAppend?: () => void },
  ) => {
    commands.push(command);
    const { beforeAppend, ...more } = options;
    handled.push({ id, context, ...more });
    beforeAppend?.();
    const events = orderDecider.decide(command, recorded ?? orderDecider.initial);
    return { state: fold(orderDecider, recorded ?? orderDecider.initial, events), events };
  };
  const options: CreateOrderOptions = {
    handler: { handle } as never,
    project: async (...row) => void projected.push(row),
    earlierCreates: async () =>
      recorded
        ? ({
            isDeleted: false,
            merchantId: MERCHANT_ID,
            created: { order: recorded, requestId: 'req_0' },
          } as EarlierCreate)
        : null,
    payablesOf: async (order) => {
      asked.push(order);
      return payables;
    },
    rates: { quote: async () => ({ rate: '0.05', source: 'kraken', quotedAt: NOON }) },
    rateLockMaxMinutes: 100,
    toleranceBpsOf: async () => 77,
    assets: readAssets({ ENVIRONMENT: 'sandbox', CAZ_DECIMALS: 18 }),
    scales: scalesOf({ CAZ_DECIMALS: 18 }),
    now: () => NOON,
    endsBy: () => NOON,
  };
  const created = await orderCreation(options)(call, CONTEXT);
  return { created, command: commands[0] as Command, commands, handled, projected, asked };
};
const renewing = { capabilities: { ...capabilities, expiration_auto_renewal: true } };

describe('the command of a new order', () => {
  test('has all that the merchant asked for, at the decimals of its currency', async () => {
    const order = { metadata: { table: 'B7' }, return_url: 'https://shop.example/thanks', expiration_minutes: 15 };
    const { command } = await creating(callOf(order));
    expect(command).toEqual({
      type: 'CreateOrder',
      orderId: ORDER_ID,
      merchantId: MERCHANT_ID,
      externalReferenceId: 'cart-1',
      metadata: { table: 'B7' },
      returnUrl: 'https://shop.example/thanks',
      items: [TEA],
      rails: ['gateway_pay'],
      currency: 'USDC',
      decimals: 6,
      capabilities,
      rates: { USDC: { rate: '1', source: 'identity', quoted_at: at(0), expires_at: at(15) } },
      totalMinor: 10_000_000n,
      toleranceBps: 77,
      expirationMinutes: 15,
      at: NOON,
    });
  });

  test('ends after an hour if the merchant names no time', async () =>
    expect((await creating(callOf({}))).command.expirationMinutes).toBe(60));

  test.each([
    ['its own', { underpayment_tolerance_percent: 1.25 }, 125],
    ['its own, also if it is none', { underpayment_tolerance_percent: 0 }, 0],
    ['that of its merchant', {}, 77],
  ])('has a tolerance for underpayment: %s', async (_, order, toleranceBps) =>
    expect((await creating(callOf(order))).command.toleranceBps).toBe(toleranceBps),
  );

  test.each([
    ['until the deadline of an order that renews', { ...renewing, expiration_minutes: 99 }, 99, undefined],
    ['until its deadline, if that is the longest time', { ...renewing, expiration_minutes: 100 }, 100, undefined],
    ['for the longest time, if its deadline is later', { ...renewing, expiration_minutes: 101 }, 100, at(100)],
    ['until the deadline of an order that does not renew', { expiration_minutes: 101 }, 101, undefined],
  ])('locks the rates %s', async (_, order, minutes, ratesExpireAt) => {
    const { command } = await creating(callOf({ ...order, items: [{ ...TEA, currency: 'MXN' }] }));
    expect(command.rates.MXN!.expires_at).toBe(at(minutes));
    expect(command.ratesExpireAt).toBe(ratesExpireAt);
  });
});

test('payables are asked for with the total, and go into the command', async () => {
  const required: string[] = [];
  const payables: Payables = {
    instructions: [instruction],
    requireLease: () => void required.push('lease'),
    putBack: () => void required.push('put back'),
  };
  const { command, asked } = await creating(callOf({}), { payables });
  expect(command.instructions).toEqual([instruction]);
  expect(asked).toEqual([
    {
      orderId: ORDER_ID,
      merchantId: MERCHANT_ID,
      currency: 'USDC',
      decimals: 6,
      rails: ['gateway_pay'],
      totalMinor: 10_000_000n,
    },
  ]);
  expect(required).toEqual(['lease']);
});

test('an order without payables has no instructions yet', async () =>
  expect((await creating(callOf({}))).command).not.toHaveProperty('instructions'));

test('an amount that no network can take is refused for deposits alone', async () => {
  // 100 satoshi.
  const tiny = { items: [{ ...TEA, unit_price: '0.00002', currency: 'MXN' }], payment_currency: 'BTC' };
  await expect(creating(callOf({ ...tiny, enable_rails: ['crypto_deposit'] }))).rejects.toMatchObject({
    code: 'amount_too_small',
  });
  expect((await creating(callOf(tiny))).command).toMatchObject({ totalMinor: 100n, decimals: 8 });
});

test('it is recorded as a new stream, and projected as its first event', async () => {
  const { created, handled, projected } = await creating(callOf({}));
  expect(handled).toEqual([{ id: ORDER_ID, context: CONTEXT, fresh: true, idempotency: undefined }]);
  expect(created).toMatchObject({ isRepeat: false, order: { orderId: ORDER_ID } });
  expect(projected).toEqual([[created.order, 0]]);
});

test('the fingerprint of a request is kept for a day', async () => {
  const { handled } = await creating(callOf({}, { request_hash: 'abc' }));
  expect(handled).toMatchObject([{ idempotency: { requestHash: 'abc', until: at(24 * 60) } }]);
});

test('a repeat gets the order that has the id', async () => {
  const recorded = fold(orderDecider, orderDecider.initial, [
    orderCreated({ orderId: ORDER_ID, externalReferenceId: 'first' }),
  ]);
  const { created, projected } = await creating(callOf({}), { recorded });
  expect(created).toEqual({ order: recorded, isRepeat: true });
  expect(projected).toEqual([[recorded, 0]]);
});

test('a request that may only be a repeat creates nothing', async () => {
  await expect(creating(callOf({}, { only_repeat: true }))).rejects.toMatchObject({ code: 'not_found' });
});
