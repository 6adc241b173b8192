import {
  AppError,
  type ErrorCode,
  paymentView,
  type RecordedOrderReference,
  type RegisterPaymentCall,
} from '@cpg/contracts';
import type { PaymentCommand, ReceivePayment } from '../payment/command.ts';
import type { FeeSchedule } from '../payment/fees.ts';
import { paymentIdOf, providerIdAfterDeletion } from '../payment/identity.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from '../payment/state.ts';
import { CONTEXT } from '../testing/jest-fixtures.ts';
import { paymentReceived } from '../testing/jest-payment-events.ts';
import { evolve } from '../payment/state.ts';
import { SCALES } from '../testing/jest-rails.ts';
import { isRefusedForGood, registerPayments } from './register.ts';

const NOW = new Date('2026-01-31T12:00:00.000Z');
const [EARLIER, LATER] = ['2026-01-31T11:59:00.000Z', '2026-01-31T12:01:00.000Z'];
const ORDER = 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D';
const [OWNER, OTHER] = ['mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K', 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2M'];
const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const rule = { percent_bps: 100 };
const fees: FeeSchedule = {
  version: 'v7',
  rails: { gateway_pay: { percent_bps: 0 }, crypto_deposit: rule },
  merchants: {},
};
const RECEIVED = evolve({ status: 'none' }, paymentReceived()) as ExistingPayment;

const call: RegisterPaymentCall = {
  order_id: ORDER,
  rail: 'crypto_deposit',
  provider_id: 'eip155:1/0xf00d:0',
  amount: '10',
  currency: 'USDC',
  confirmed: true,
};
const { order_id: _, ...toAddress } = { ...call, address: ADDRESS };

/** What a report becomes. `deleted` are the ids of payments that were deleted with their order. */
const register = async (
  report: RegisterPaymentCall,
  {
    owner = null,
    merchant = OWNER,
    reference,
    deleted = [],
    hadFailed = false,
    fault = 'not_found',
  }: {
    owner?: { orderId: string; merchantId: string; rail: 'gateway_pay' | 'crypto_deposit' } | null;
    merchant?: string | null;
    reference?: RecordedOrderReference;
    deleted?: readonly string[];
    hadFailed?: boolean;
    fault?: ErrorCode;
  } = {},
) => {
  const commands: ReceivePayment[] = [];
  const asked: string[] = [];
  const options: unknown[] = [];
  const answer = await registerPayments({
    commands: {
      find: async () => RECEIVED,
      run: async (id: string, command: PaymentCommand, _context, how) => {
        commands.push(command as ReceivePayment);
        options.push(how);
        expect((command as ReceivePayment).paymentId).toBe(id);
        if (deleted.includes(id)) throw new AppError(fault, 'the stream was deleted');
        return RECEIVED;
      },
      recordOutcomes: async () => [],
    },
    notifyOrder: async (payment) => ({ payment, order: null }),
    findPayable: async (payAt) => ('address' in payAt && payAt.address === ADDRESS ? owner : null),
    findOrder: async (orderId) => {
      asked.push(orderId);
      return merchant === null ? null : { merchantId: merchant, reference };
    },
    hadFailedAtDeletion: async (orderId, paymentId) => hadFailed && orderId === ORDER && deleted.includes(paymentId),
    fees,
    scales: SCALES,
    now: () => NOW,
  })(report, CONTEXT, { beforeAppend: () => {} });
  return { command: commands.at(-1)!, commands, asked, options, answer };
};

test('a report becomes a payment with all that it says, and its fee', async () => {
  const said = {
    asset: 'eip155:1/erc20:0xA0b8',
    asset_label: 'USDC.e',
    credited: false,
    reinstates: false,
    tx_hash: '0xf00d',
    seen_at: EARLIER,
    block: { height: 7, hash: '0x7a' },
    confirmations: 3,
    metadata: { till: 3 },
  };
  const { command, answer, options } = await register({ ...call, ...said, confirmed: false });
  expect(command).toMatchObject({
    type: 'ReceivePayment',
    paymentId: paymentIdOf('crypto_deposit', call.provider_id),
    merchantId: OWNER,
    orderId: ORDER,
    rail: 'crypto_deposit',
    providerId: call.provider_id,
    currency: 'USDC',
    asset: said.asset,
    assetLabel: 'USDC.e',
    credited: false,
    amountMinor: 10_000_000n,
    feeMinor: 100_000n,
    feeSchedule: 'v7',
    reinstates: false,
    confirmed: false,
    txHash: '0xf00d',
    confirmations: 3,
    block: said.block,
    metadata: { till: 3 },
    seenAt: new Date(EARLIER),
    at: NOW,
  });
  expect(options).toEqual([{ fresh: true, beforeAppend: expect.any(Function) }]);
  expect(answer).toEqual({ payment: paymentView(RECEIVED), order: null });
});

test('a payment says nothing that its report does not say', async () => {
  const { command } = await register({ ...call, credited: true });
  const optional = ['address', 'asset', 'assetLabel', 'credited', 'reinstates', 'txHash', 'block', 'confirmations'];
  expect(Object.keys(command).filter((key) => [...optional, 'metadata'].includes(key))).toEqual([]);
  expect(command).toMatchObject({ confirmed: true, seenAt: NOW, at: NOW });
});

test.each<[string, Partial<RegisterPaymentCall>, string]>([
  ['is not in the future', { seen_at: LATER }, NOW.toISOString()],
  ['may be earlier', { seen_at: EARLIER }, EARLIER],
  ['is that of its block, whose clock may be ahead', { seen_at: LATER, block: { height: 7, hash: '0x7a' } }, LATER],
])('the time at which money was seen %s', async (_case, said, seenAt) =>
  expect((await register({ ...call, ...said })).command.seenAt.toISOString()).toBe(seenAt),
);

describe('the owner of money', () => {
  const found = { orderId: ORDER, merchantId: OTHER, rail: 'gateway_pay' as const };

  test('is that of the order that shows the address, by the rail that shows it', async () => {
    const { command, asked } = await register(toAddress, { owner: found });
    expect(command).toMatchObject({
      orderId: ORDER,
      merchantId: OTHER,
      rail: 'gateway_pay',
      address: ADDRESS,
      feeMinor: 0n,
    });
    expect(command.paymentId).toBe(paymentIdOf('crypto_deposit', call.provider_id));
    expect(asked).toEqual([ORDER]);
  });
  test('is unknown for an address that no order shows', async () => {
    const { command, asked } = await register(toAddress);
    expect(command).toMatchObject({ orderId: ADDRESS, merchantId: UNCLAIMED_MERCHANT, address: ADDRESS });
    expect(asked).toEqual([]);
  });
  test('is that of the order that the report names', async () => {
    const { command, asked } = await register(call);
    expect(command).toMatchObject({ orderId: ORDER, merchantId: OWNER });
    expect(asked).toEqual([ORDER]);
  });
  test('is unknown for an order that does not exist', async () =>
    expect((await register(call, { merchant: null })).command).toMatchObject({
      orderId: ORDER,
      merchantId: UNCLAIMED_MERCHANT,
    }));
});

test('a payment keeps how the merchant knows its order', async () => {
  const reference = { externalReferenceId: 'cart-7', metadata: { shop: 'b2c' } };
  const named = await register(call, { reference });
  expect(named.command.order).toEqual(reference);
  const found = { orderId: ORDER, merchantId: OTHER, rail: 'gateway_pay' as const };
  const atAddress = await register(toAddress, { owner: found, reference });
  expect(atAddress.command).toMatchObject({ merchantId: OTHER, order: reference });
  const deleted = await register(call);
  expect(deleted.command).not.toHaveProperty('order');
});

describe('money of a payment that was deleted with its order', () => {
  const id = paymentIdOf(call.rail, call.provider_id);
  const again = paymentIdOf(call.rail, providerIdAfterDeletion(call.provider_id));
  const ids = async (...[report, how]: Parameters<typeof register>) =>
    (await register(report, { deleted: [id], ...how })).commands.map(({ paymentId }) => paymentId);

  test('becomes a payment of its own if that had failed', async () =>
    expect(await ids(call, { hadFailed: true })).toEqual([id, again]));
  test.each<[string, Partial<RegisterPaymentCall>, Parameters<typeof register>[1]]>([
    ['that had not failed', {}, { hadFailed: false }],
    ['if the report does not reinstate it', { reinstates: false }, { hadFailed: true }],
    ['after another refusal', {}, { hadFailed: true, fault: 'payment_conflict' }],
  ])('is refused %s', (_case, said, how) =>
    expect(ids({ ...call, ...said }, how)).rejects.toMatchObject({ code: how!.fault ?? 'not_found' }),
  );
});

test.each<[string, unknown, boolean]>([
  ['other money of a recorded payment', new AppError('payment_conflict', ''), true],
  ['an amount that cannot be written', new AppError('invalid_request', ''), true],
  ['a deleted payment', new AppError('not_found', ''), true],
  ['an answer of orders', new AppError('payment_conflict', '', { answeredBy: 'orders' }), false],
  ['an outage', new AppError('dependency_unavailable', ''), false],
  ['a bug', new TypeError('undefined'), false],
])('whether no repeat of a report helps after %s', (_case, error, expected) =>
  expect(isRefusedForGood(error)).toBe(expected),
);
