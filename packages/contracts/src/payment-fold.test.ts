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
  decimals: 6,
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
const APPLIED_STATE = {
  status: 'applied',
  appliedMinor: 900n,
  unappliedMinor: 100n,
  appliedAt: late,
  updatedAt: late,
} as const;
const FAILED_STATE = { status: 'failed', failureReason: 'reorg', failedAt: early } as const;
const refunded = (refundedTotalMinor: string): PaymentChange => ({
  type: 'PaymentRefunded',
  data: { refundedTotalMinor, at: late },
});
const after = (...changes: readonly PaymentChange[]) => changes.reduce(paymentAfter, payment);

const block = { height: 7, hash: '0x7a' };
const FAILED: PaymentChange = { type: 'PaymentFailed', data: { failureReason: 'reorg', at: early } };
const ORPHANED: PaymentChange = { type: 'PaymentOrphaned', data: { orphanReason: 'late', at: late } };
const CONFIRMED: PaymentChange = { type: 'PaymentConfirmed', data: { confirmations: 3, at: early } };
const SEEN_AGAIN = { type: 'PaymentReinstated', data: { sighting: 2, confirmed: false, at: late } } as const;
const mined = (changes: object): PaymentChange => ({
  type: 'PaymentBlockChanged',
  data: { block, confirmations: 1, blockChanges: 1, at: late, ...changes },
});
const confirmed = { confirmedAt: early, confirmations: 3 };

test.each<[string, PaymentChange[], Partial<PaymentState>]>([
  ['a confirmation counts', [CONFIRMED], confirmed],
  [
    'a confirmation without a count keeps that of the block',
    [mined({ confirmations: 2 }), { type: 'PaymentConfirmed', data: { at: late } }],
    { block, blockChanges: 1, confirmations: 2, confirmedAt: late, updatedAt: late },
  ],
  [
    'a change of block keeps the confirmation',
    [CONFIRMED, mined({})],
    { block, blockChanges: 1, confirmations: 1, confirmedAt: early, updatedAt: late },
  ],
  [
    'a change of block can take the confirmation back',
    [CONFIRMED, mined({ unconfirmed: true })],
    { block, blockChanges: 1, confirmations: 1, updatedAt: late },
  ],
  [
    'no block contains the payment any more',
    [mined({}), mined({ block: undefined, confirmations: 0, blockChanges: 2 })],
    { blockChanges: 2, confirmations: 0, updatedAt: late },
  ],
  ['an applied payment has its shares', [APPLIED], APPLIED_STATE],
  ['an orphan that is applied is no orphan', [ORPHANED, APPLIED], APPLIED_STATE],
  [
    'a payment of which more is applied has the time of the last part',
    [{ ...APPLIED, data: { ...APPLIED.data, appliedMinor: '500', unappliedMinor: '500', at: early } }, APPLIED],
    APPLIED_STATE,
  ],
  ['nothing of an orphan is applied', [APPLIED, ORPHANED], { status: 'orphan', orphanReason: 'late', updatedAt: late }],
  ['nothing of a failed payment is applied', [APPLIED, FAILED], { ...FAILED_STATE, updatedAt: late }],
  [
    'a refund of a part keeps the status and the shares',
    [APPLIED, refunded('999')],
    { ...APPLIED_STATE, refundedMinor: 999n },
  ],
  [
    'a refund of the rest ends both, and keeps when it was applied',
    [{ ...APPLIED, data: { ...APPLIED.data, at: early } }, refunded('999'), refunded('1000')],
    { status: 'refunded', refundedMinor: 1_000n, appliedAt: early, refundedAt: late, updatedAt: late },
  ],
  [
    'an orphan that is refunded was never applied',
    [APPLIED, ORPHANED, refunded('1000')],
    { status: 'refunded', orphanReason: 'late', refundedMinor: 1_000n, refundedAt: late, updatedAt: late },
  ],
  [
    'money that is seen again is unconfirmed, in no block, and has no reason of its failure',
    [CONFIRMED, mined({}), FAILED, SEEN_AGAIN],
    { sighting: 2, blockChanges: 1, updatedAt: late },
  ],
  ['an orphan that is seen again is no orphan', [ORPHANED, SEEN_AGAIN], { sighting: 2, updatedAt: late }],
  [
    'money that is seen again can be confirmed at once, in a block',
    [
      FAILED,
      { ...SEEN_AGAIN, data: { ...SEEN_AGAIN.data, confirmed: true, confirmations: 2, block, blockChanges: 4 } },
    ],
    { sighting: 2, confirmedAt: late, confirmations: 2, block, blockChanges: 4, updatedAt: late },
  ],
])('%s', (_, changes, expected) => expect(after(...changes)).toEqual({ ...payment, ...expected }));

test('a change that is recorded late does not set the last update back', () => {
  const earlier: PaymentChange = { type: 'PaymentOrphaned', data: { orphanReason: 'late', at: early } };
  expect(after(APPLIED, earlier)).toMatchObject({ status: 'orphan', updatedAt: late, appliedMinor: 0n });
});

test('a payment was not applied, refunded or failed before it was created', () => {
  const received = { ...payment, createdAt: late };
  const [applied, refund] = [APPLIED, refunded('1000')].map((change) => ({
    ...change,
    data: { ...change.data, at: early },
  })) as PaymentChange[];
  expect([applied!, refund!].reduce(paymentAfter, received)).toMatchObject({ appliedAt: late, refundedAt: late });
  expect(paymentAfter(received, FAILED)).toMatchObject({ failedAt: late });
});
