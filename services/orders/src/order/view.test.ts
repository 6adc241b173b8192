import { type AssignedInstruction, exampleOf, Order, type OrderStatus, Payment } from '@cpg/contracts';
import { BODY_LIMIT_BYTES } from '@cpg/platform';
import { after, cancel, dueAt, existing, expireAt, refund } from '../testing/jest-deciding.ts';
import { createOrder, instruction, minutesAfterNoon, NOON, offer, payment } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { MAX_PAYMENTS } from './state.ts';
import { orderView } from './view.ts';

const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const REFUND = `rfd_${'0'.repeat(26)}`;
const CONTRACT = '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d';

const deposit: AssignedInstruction = {
  rail: 'crypto_deposit',
  currency: 'USDC',
  network: 'bnb',
  chainId: 'eip155:56',
  asset: `eip155:56/erc20:${CONTRACT}`,
  address: ADDRESS,
  decimals: 18,
  currencyDecimals: 6,
  requiredConfirmations: 15,
  derivation: { fingerprint: '73c5da0a', path: '0/0' },
};

const failed = (n: number): OrderCommand => ({
  type: 'FailPayment',
  payment: payment(n, 10_000_000n),
  failureReason: 'reorg',
  failedAt: NOON,
  at: NOON,
});

const instructionOf = (assigned: AssignedInstruction, totalMinor: bigint) => {
  const order = after(createOrder({ rails: ['crypto_deposit'], instructions: [assigned], totalMinor }));
  return orderView(existing(order)).deposit_instructions[0];
};

test('asks for the units of the asset where its decimals are not those of the currency', () => {
  expect(instructionOf(deposit, 25_500_000n)).toMatchObject({
    amount: '25.500000',
    amount_units: '25500000000000000000',
    decimals: 18,
    payment_uri: `ethereum:${CONTRACT}@56/transfer?address=${ADDRESS}&uint256=25500000000000000000`,
  });
});

test('the URI of a Bitcoin chain has the amount in coins, and a token shows its label', () => {
  const bitcoin = { ...deposit, chainId: 'bip122:000000000019d6689c085ae165831e93', address: 'bc1q', decimals: 8 };
  // The order counts in 6 decimals.
  expect(instructionOf(bitcoin, 25_500_000n)).toMatchObject({ payment_uri: 'bitcoin:bc1q?amount=25.500000' });
  expect(instructionOf({ ...deposit, assetLabel: 'USDC.e' }, 1n)).toMatchObject({ asset_label: 'USDC.e' });
  expect(instructionOf(deposit, 1n)).not.toHaveProperty('asset_label');
});

test('a QR code contains what the provider wants in it, by default its page', () => {
  const codeOf = (changes: object) => instructionOf({ ...instruction, ...changes }, 1n);
  expect(codeOf({ qrContent: 'pay:REF' })).toMatchObject({
    qr_content: 'pay:REF',
    payment_url: instruction.paymentUrl,
  });
  expect(codeOf({})).toMatchObject({ qr_content: instruction.paymentUrl });
});

test('asks nobody to pay an order again that was refunded, and to pay one whose payment failed', () => {
  const asked = (...more: OrderCommand[]) => {
    const order = createOrder({ instructions: [deposit, instruction] });
    const view = orderView(existing(after(order, offer(1, 10_000_000n), ...more)));
    return [view.remaining_amount, view.deposit_instructions.map((each) => [each.amount, Object.keys(each)].flat())];
  };
  const [uri, code] = [expect.arrayContaining(['payment_uri']), expect.arrayContaining(['qr_content'])];
  const [, failedAsks] = asked(failed(1));
  expect(failedAsks).toEqual([uri, code]);
  const [remaining, refundedAsks] = asked(refund(1, 10_000_000n));
  expect(remaining).toBe('10.000000');
  expect(refundedAsks).toEqual([
    expect.not.arrayContaining(['payment_uri']),
    expect.not.arrayContaining(['qr_content']),
  ]);
  expect(refundedAsks).toEqual([expect.arrayContaining(['0.000000']), expect.arrayContaining(['0.000000'])]);
});

test('shows the page of the rail that has one, and the sums of the items', () => {
  const items = [{ name: 'tea', quantity: 3, unit_price: '60.5', currency: 'MXN' as const }];
  const both = orderView(existing(after(createOrder({ items, instructions: [deposit, instruction] }))));
  expect(both).toMatchObject({ payment_url: instruction.paymentUrl, item_totals: { MXN: '181.50' } });
  expect(orderView(existing(after(createOrder({ instructions: [deposit] }))))).not.toHaveProperty('payment_url');
});

test('says when it became paid, also after it was reversed', () => {
  const views = [[], [offer(1, 10_000_000n)], [offer(1, 10_000_000n), failed(1)]].map((more) =>
    orderView(existing(after(createOrder(), ...more))),
  );
  const paidAt = views[1]!.updated_at;
  expect(views.map(({ status, paid_at }) => [status, paid_at])).toEqual([
    ['awaiting_payment', undefined],
    ['paid', paidAt],
    ['reversed', paidAt],
  ]);
});

test('the same order is rendered once', () => {
  const order = existing(after(createOrder()));
  expect(orderView(order)).toBe(orderView(order));
});

test('shows amounts with the decimals that the order recorded, whatever the configuration is', () => {
  const caz: AssignedInstruction = { ...deposit, currency: 'CAZ', currencyDecimals: 2, smallestPayableMinor: '150' };
  const order = createOrder({ currency: 'CAZ', decimals: 2, totalMinor: 1_000n, instructions: [caz] });
  const paid = offer(1, 400n, { currency: 'CAZ', decimals: 2, providerId: 'eip155:56/0x1:0' });
  expect(orderView(existing(after(order, paid)))).toMatchObject({
    total_amount: '10.00',
    remaining_amount: '6.00',
    deposit_instructions: [{ amount: '6.00', amount_units: '6000000000000000000', smallest_payable_amount: '1.50' }],
    payments: [{ paid_amount: '4.00', applied_amount: '4.00' }],
  });
});

const create = createOrder({ instructions: [instruction, deposit] });
const holding = createOrder({ instructions: [instruction, deposit], allow: { partial_payments: false } });
const wrongNetwork = { providerId: 'eip155:1/0xabc:0', confirmed: false };

test.each<[string, OrderCommand[], string]>([
  ['held', [holding, offer(1, 4_000_000n)], '6.000000'],
  ['on its way', [create, offer(1, 4_000_000n, { confirmed: false })], '6.000000'],
  ['held after the order was reversed', [create, offer(1, 10_000_000n), failed(1), offer(2, 4_000_000n)], '6.000000'],
  ['applied', [create, offer(1, 4_000_000n)], '6.000000'],
  ['held and failed', [holding, offer(1, 4_000_000n), failed(1)], '10.000000'],
  ['on its way in another currency', [create, offer(1, 4_000_000n, { currency: 'USDT' })], '10.000000'],
  ['on its way on a network that the order does not show', [create, offer(1, 4_000_000n, wrongNetwork)], '10.000000'],
])('asks for what is missing beside money that is %s', (_, commands, amount) => {
  const [page, onChain] = orderView(existing(after(...commands))).deposit_instructions;
  expect(page).toMatchObject({ amount });
  const amount_units = `${amount.replace('.', '')}${'0'.repeat(12)}`;
  expect(onChain).toMatchObject({ amount, amount_units, payment_uri: expect.stringMatching(amount_units) });
});

test('asks wallets for nothing while all of the money is on its way', () => {
  const view = orderView(existing(after(create, offer(1, 12_000_000n, { confirmed: false }))));
  expect(view).toMatchObject({ status: 'awaiting_payment', remaining_amount: '10.000000' });
  const [page, onChain] = view.deposit_instructions;
  expect(page).toMatchObject({ amount: '0.000000', qr_content: instruction.paymentUrl });
  expect(onChain).toMatchObject({ amount: '0.000000', amount_units: '0' });
  expect(onChain).not.toHaveProperty('payment_uri');
});
test.each<[OrderStatus, OrderCommand[]]>([
  ['awaiting_payment', [create]],
  ['partially_paid', [create, offer(1, 4_000_000n)]],
  ['reversed', [create, offer(1, 10_000_000n), failed(1)]],
])('an order that is %s shows what wallets open', (status, commands) => {
  const view = orderView(existing(after(...commands)));
  expect(view.status).toBe(status);
  expect(view.deposit_instructions).toMatchObject([
    { qr_content: instruction.paymentUrl },
    { payment_uri: expect.stringMatching(/^ethereum:0x8AC7/) },
  ]);
});

test.each<[OrderStatus, OrderCommand[]]>([
  ['paid', [create, offer(1, 10_000_000n)]],
  ['canceled', [create, cancel]],
  ['expired', [create, expireAt(dueAt)]],
  ['partially_paid_expired', [create, offer(1, 4_000_000n), expireAt(dueAt)]],
])('an order that is %s shows nothing that a wallet opens', (status, commands) => {
  const view = orderView(existing(after(...commands)));
  expect(view.status).toBe(status);
  for (const shown of view.deposit_instructions)
    expect(Object.keys(shown).filter((name) => ['payment_uri', 'qr_content'].includes(name))).toEqual([]);
});

describe('what is to be given back', () => {
  const dueBack = (...commands: OrderCommand[]) => orderView(existing(after(...commands))).due_back_amount;
  const create = createOrder({ instructions: [{ ...deposit, smallestPayableMinor: '100' }] });
  test.each<[string, OrderCommand[], string | undefined]>([
    ['nothing of an order that is paid exactly', [offer(1, 10_000_000n)], undefined],
    ['an excess', [offer(1, 12_000_000n)], '2.000000'],
    ['the smallest excess that can be sent', [offer(1, 10_000_100n)], '0.000100'],
    ['no excess that nobody can send', [offer(1, 10_000_099n)], undefined],
    ['a second payment', [offer(1, 10_000_000n), offer(2, 3_000_000n)], '3.000000'],
    ['what was paid of a canceled order', [offer(1, 4_000_000n), cancel], '4.000000'],
    [
      'what is left of it after a refund',
      [
        offer(1, 4_000_000n),
        cancel,
        {
          type: 'RefundPayment',
          paymentId: payment(1, 0n).paymentId,
          refundId: REFUND,
          refundedTotalMinor: 1_000_000n,
          refundedAt: NOON,
          at: NOON,
        },
      ],
      '3.000000',
    ],
    ['nothing of a payment in another currency', [offer(1, 10_000_000n, { currency: 'USDT' })], undefined],
    ['late money', [expireAt(dueAt), offer(1, 4_000_000n, { at: minutesAfterNoon(61) })], '4.000000'],
  ])('%s', (_case, commands, amount) => expect(dueBack(create, ...commands)).toBe(amount));
});

// docs/merchants.md tells merchants to accept bodies of 1 MB. The longest values are those of RegisterPaymentCall.
test('the largest webhook of an order stays below the 1 MB of docs/merchants.md', () => {
  const amount = `1000000000.${'0'.repeat(18)}`;
  const paid = {
    ...exampleOf(Payment),
    ...{ paid_amount: amount, fee_amount: amount, net_amount: amount, applied_amount: amount },
    ...{
      unapplied_amount: amount,
      refunded_amount: amount,
      orphan_reason: 'too_many_payments',
      failure_reason: 'dropped',
    },
    ...{ provider_id: 'p'.repeat(256), tx_hash: 't'.repeat(256), asset: 'a'.repeat(256), asset_label: 'l'.repeat(32) },
    ...{ credited: false, confirmations: 1e9, block: { height: 1e9, hash: 'h'.repeat(128) } },
  };
  // More than any installation has.
  const NETWORKS = 30;
  const METADATA_BYTES = 16 * 1024;
  const order = exampleOf(Order);
  const data = {
    ...order,
    items: 'i'.repeat(BODY_LIMIT_BYTES),
    metadata: 'm'.repeat(METADATA_BYTES),
    deposit_instructions: Array.from({ length: NETWORKS }, () => order.deposit_instructions).flat(),
    // One payment more than the maximum may settle the order.
    payments: Array.from({ length: MAX_PAYMENTS + 1 }, () => paid),
  };
  expect(JSON.stringify({ event: 'order:updated', object_type: 'order', timestamp: 1e13, data }).length).toBeLessThan(
    1_000_000,
  );
});
