import { after, existing } from '../testing/jest-deciding.ts';
import { createOrder, instruction, NOON, offer, payment, paymentId } from '../testing/orders.ts';
import { deletionRecord, payableOf } from './deletion.ts';

const derivation = { fingerprint: 'f00dcafe', path: '0/7' };
const deposit = {
  network: 'ethereum',
  chainId: 'eip155:1',
  asset: 'eip155:1/slip44:60',
  address: '0xA1',
  decimals: 18,
  currencyDecimals: 18,
  requiredConfirmations: 12,
  derivation,
};

test('a deleted order keeps where it could be paid, with the addresses behind its payment pages', () => {
  const kept = { network: 'ethereum', address: '0xA1', derivation };
  const page = { provider: 'hosted', paymentReference: 'REF' };
  expect([
    payableOf({ rail: 'crypto_deposit', currency: 'ETH', ...deposit }),
    payableOf({ rail: 'gateway_pay', currency: 'ETH', ...page, paymentUrl: 'http://pay/REF', deposits: [deposit] }),
    payableOf({ rail: 'gateway_pay', currency: 'ETH', ...page, paymentUrl: 'http://pay/REF' }),
  ]).toEqual([
    { rail: 'crypto_deposit', ...kept },
    { rail: 'gateway_pay', ...page, deposits: [kept] },
    { rail: 'gateway_pay', ...page },
  ]);
});

test('the record of a deletion names the payments that had failed, and no others', () => {
  const failed = (n: number) =>
    ({ type: 'FailPayment', payment: payment(n, 1n), failureReason: 'reorg', failedAt: NOON, at: NOON }) as const;
  const deleted = { actor: 'key:test', lastHash: 'h', sequence: 7, paymentIds: [paymentId(1)], at: NOON.toISOString() };
  const recordOf = (...commands: Parameters<typeof after>) => {
    const order = existing(after(createOrder(), ...commands));
    const { orderId, merchantId } = order;
    const { type, data } = deletionRecord(order, deleted);
    expect([type, data.orderId, data.merchantId]).toEqual(['OrderDeletionRecorded', orderId, merchantId]);
    return data;
  };
  const { rail, provider, paymentReference } = instruction;
  const kept = { ...deleted, payables: [{ rail, provider, paymentReference }] };
  expect(recordOf(offer(1, 1n), failed(1), offer(2, 10_000_000n))).toEqual({
    ...recordOf(),
    ...kept,
    failedPaymentIds: [paymentId(1)],
  });
  expect(Object.keys(recordOf(offer(1, 10_000_000n)))).not.toContain('failedPaymentIds');
});
