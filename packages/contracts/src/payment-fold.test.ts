import { paymentAfter, type PaymentChange } from './payment-fold.ts';
import type { PaymentState } from './payment-view.ts';

const [early, late] = ['2026-01-31T12:00:00.000Z', '2026-01-31T13:00:00.000Z'];
const payment: PaymentState = {
  paymentId: 'pay_01J00000000000000000000000',
  merchantId: 'mer_01J00000000000000000000000',
  orderId: 'ord_01J00000000000000000000000',
  rail: 'crypto_deposit',
  providerId: 'eip155:1/0x1:native',
  currency: 'USDC',
  amountMinor: 1_000n,
  feeMinor: 10n,
  appliedMinor: 0n,
  unappliedMinor: 0n,
  refundedMinor: 0n,
  status: 'received',
  seenAt: early,
  createdAt: early,
  updatedAt: early,
};
const APPLIED: PaymentChange = {
  type: 'PaymentApplied',
  data: { appliedMinor: '900', unappliedMinor: '100', at: late },
};
const refunded = (refundedTotalMinor: string): PaymentChange => ({
  type: 'PaymentRefunded',
  data: { refundedTotalMinor, at: late },
});
const after = (...changes: readonly PaymentChange[]) => changes.reduce(paymentAfter, payment);

test('an applied payment has its shares', () => {
  const shares = { status: 'applied', appliedMinor: 900n, unappliedMinor: 100n, updatedAt: late };
  expect(after(APPLIED)).toMatchObject(shares);
});

test('a refund of a part keeps the status and the shares, and the last one ends both', () => {
  expect(after(APPLIED, refunded('400'))).toMatchObject({ status: 'applied', refundedMinor: 400n, appliedMinor: 900n });
  expect(after(APPLIED, refunded('1000'))).toMatchObject({ status: 'refunded', appliedMinor: 0n, unappliedMinor: 0n });
});

test('money that is seen again counts as unconfirmed, and has no reason of its failure any more', () => {
  const confirmed: PaymentChange = { type: 'PaymentConfirmed', data: { confirmations: 3, at: early } };
  const failed: PaymentChange = { type: 'PaymentFailed', data: { failureReason: 'reorg', at: late } };
  expect(after(confirmed, failed)).toMatchObject({ status: 'failed', failureReason: 'reorg', confirmedAt: early });
  const again: PaymentChange = { type: 'PaymentReinstated', data: { sighting: 2, confirmed: false, at: late } };
  expect(after(confirmed, failed, again)).toMatchObject({
    status: 'received',
    sighting: 2,
    failureReason: undefined,
    confirmedAt: undefined,
  });
});

test('a change that is recorded late does not set the last update back', () => {
  const earlier: PaymentChange = { type: 'PaymentOrphaned', data: { orphanReason: 'late', at: early } };
  expect(after(APPLIED, earlier)).toMatchObject({ status: 'orphan', updatedAt: late, appliedMinor: 0n });
});
