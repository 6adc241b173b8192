import fc from 'fast-check';
import {
  chainOf,
  dueBackMinor,
  outsideProviderOf,
  type PaymentState,
  paymentView,
  paymentBreakdown,
} from './payment-view.ts';
import { OfferedPayment, offeredPayment, PaymentOffer } from './payment-offer.ts';
import { maxMinor, parseDecimal } from './money.ts';
import { Payment, PaymentStatus } from './resources/payment.ts';

const received: PaymentState = {
  paymentId: 'pay_01KGA4T1C2E4G6J8M0P2R4T6V8',
  merchantId: 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K',
  orderId: 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D',
  rail: 'crypto_deposit',
  providerId: '0xabc:0',
  currency: 'USDT',
  decimals: 6,
  amountMinor: 10_000_000n,
  feeMinor: 100_000n,
  appliedMinor: 0n,
  unappliedMinor: 0n,
  refundedMinor: 0n,
  status: 'received',
  seenAt: '2026-01-31T12:00:00.000Z',
  createdAt: '2026-01-31T12:00:00.000Z',
  updatedAt: '2026-01-31T12:00:00.000Z',
};

test('what is paid is the fee and the net amount, to the last unit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: maxMinor(6) }), fc.nat({ max: 10_000 }), (amountMinor, part) => {
      const view = paymentView({ ...received, amountMinor, feeMinor: (amountMinor * BigInt(part)) / 10_000n });
      const [paid, fee, net] = [view.paid_amount, view.fee_amount, view.net_amount].map(
        (text) => parseDecimal(text).units,
      );
      expect(paid).toBe(fee! + net!);
      expect(Payment.safeParse(view).success).toBe(true);
    }),
  );
});

test('is offered to its order in its own minor units, whatever the decimals of its currency are', () => {
  fc.assert(
    fc.property(fc.nat({ max: 18 }), fc.bigInt({ min: 1n, max: 10n ** 30n }), (decimals, amountMinor) => {
      const payment = paymentView({ ...received, currency: 'CAZ', decimals, amountMinor, feeMinor: 0n });
      const offered = offeredPayment({ payment, seen_at: received.seenAt });
      expect(offered).toMatchObject({ decimals, amountMinor: String(amountMinor), feeMinor: '0' });
    }),
  );
});

test('names the token that arrived, and tells its order whether it counts as the currency', () => {
  const asset = 'eip155:137/erc20:0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
  const payment = paymentView({ ...received, asset, assetLabel: 'USDC.e', credited: false });
  expect(payment).toMatchObject({ asset, asset_label: 'USDC.e', credited: false });
  const offered = offeredPayment(PaymentOffer.parse({ payment, seen_at: received.seenAt }));
  expect(offered).toMatchObject({ currency: 'USDT', asset, assetLabel: 'USDC.e', credited: false });
  expect(OfferedPayment.safeParse(offered).success).toBe(true);
  expect(paymentView(received)).not.toHaveProperty('credited');
});

const [EARLIER, LATER] = ['2026-01-31T12:01:00.000Z', '2026-01-31T12:02:00.000Z'];
const mined = {
  ...received,
  txHash: '0xabc',
  confirmations: 3,
  block: { height: 7, hash: '0x7a' },
  metadata: { till: 3 },
  updatedAt: LATER,
};
const shownMined = {
  id: received.paymentId,
  merchant_id: received.merchantId,
  order_id: received.orderId,
  status: 'received',
  payment_rail: 'crypto_deposit',
  provider_id: '0xabc:0',
  paid_amount: '10.000000',
  fee_amount: '0.100000',
  net_amount: '9.900000',
  currency: 'USDT',
  metadata: { till: 3 },
  applied_amount: '0.000000',
  unapplied_amount: '0.000000',
  refunded_amount: '0.000000',
  tx_hash: '0xabc',
  confirmations: 3,
  block: { height: 7, hash: '0x7a' },
  created_at: received.createdAt,
  updated_at: LATER,
};

test('shows all of a payment that a merchant may know, and nothing else', () => {
  const inner = { ...mined, confirmedAt: EARLIER, address: '0x9858', blockChanges: 2, sighting: 2 };
  expect(paymentView(inner)).toEqual(shownMined);
  const failed = { ...mined, status: 'failed' as const, failureReason: 'reorg' };
  expect(paymentView(failed)).toEqual({ ...shownMined, status: 'failed', failure_reason: 'reorg' });
});

test('an order records all of an offered payment, with the times of its changes', () => {
  const offer = (facts: object) => {
    const offered = offeredPayment(PaymentOffer.parse({ payment: paymentView(mined), seen_at: EARLIER, ...facts }));
    // A field that is undefined is not recorded.
    return JSON.parse(JSON.stringify(offered)) as object;
  };
  const recorded = {
    paymentId: received.paymentId,
    rail: 'crypto_deposit',
    providerId: '0xabc:0',
    currency: 'USDT',
    amountMinor: '10000000',
    feeMinor: '100000',
    txHash: '0xabc',
    confirmations: 3,
    block: { height: 7, hash: '0x7a' },
    metadata: { till: 3 },
    seenAt: EARLIER,
    receivedAt: received.createdAt,
  };
  expect(offer({})).toMatchObject(recorded);
  const unsaid = /sighting|blockChange|reinstated|confirmedAt|asset|credited/;
  expect(Object.keys(offer({ sighting: 1, block_changes: 0 })).filter((key) => unsaid.test(key))).toEqual([]);
  expect(offer({ confirmed_at: LATER })).toMatchObject({ ...recorded, confirmedAt: LATER });
  expect(offer({ sighting: 2 })).toMatchObject({ ...recorded, sighting: 2, reinstatedAt: LATER });
  expect(offer({ block_changes: 1 })).toMatchObject({ ...recorded, blockChanges: 1, blockChangedAt: LATER });
});

test('it says only what applies to its status', () => {
  expect(Object.keys(paymentView(received))).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/reason|tx_hash|confirmations|metadata/)]),
  );
  const applied = { ...received, status: 'applied' as const, appliedMinor: 9_000_000n, unappliedMinor: 1_000_000n };
  expect(paymentView(applied)).toMatchObject({ applied_amount: '9.000000', unapplied_amount: '1.000000' });
  const orphan = { ...received, status: 'orphan' as const, orphanReason: 'late' as const, confirmations: 0 };
  expect(paymentView(orphan)).toMatchObject({ orphan_reason: 'late', confirmations: 0 });
});

test('shows the applied, unapplied and refunded amounts in every status, zero in the scale of the currency', () => {
  for (const status of PaymentStatus.options)
    expect(paymentView({ ...received, status })).toMatchObject({
      applied_amount: status === 'applied' ? '10.000000' : '0.000000',
      unapplied_amount: '0.000000',
      refunded_amount: '0.000000',
    });
});

test('a reason for an orphan is given only while it is one', () => {
  const refunded = {
    ...received,
    status: 'refunded' as const,
    orphanReason: 'late' as const,
    refundedMinor: 10_000_000n,
  };
  expect(paymentView(refunded)).not.toHaveProperty('orphan_reason');
});

test('a refund of a part takes from the surplus first, then from what was applied', () => {
  const applied = { ...received, status: 'applied' as const, appliedMinor: 7_000_000n, unappliedMinor: 3_000_000n };
  const shown = (refundedMinor: bigint) => {
    const { applied_amount, unapplied_amount, refunded_amount } = paymentView({ ...applied, refundedMinor });
    return [applied_amount, unapplied_amount, refunded_amount];
  };
  expect(shown(0n)).toEqual(['7.000000', '3.000000', '0.000000']);
  expect(shown(1_000_000n)).toEqual(['7.000000', '2.000000', '1.000000']);
  expect(shown(3_000_000n)).toEqual(['7.000000', '0.000000', '3.000000']);
  expect(shown(5_000_000n)).toEqual(['5.000000', '0.000000', '5.000000']);
});

test('the parts of a payment add up to what was paid, whatever became of it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PaymentStatus.options),
      fc.bigInt({ min: 1n, max: maxMinor(6) }),
      fc.nat({ max: 100 }),
      fc.nat({ max: 100 }),
      (status, amountMinor, surplus, back) => {
        const unappliedMinor = (amountMinor * BigInt(surplus)) / 100n;
        const refundedMinor = status === 'refunded' ? amountMinor : (amountMinor * BigInt(back)) / 100n;
        const parts = Object.values(
          paymentBreakdown({ status, amountMinor, unappliedMinor, refundedMinor }),
        ) as bigint[];
        expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(amountMinor);
        expect(parts.filter((part) => part < 0n)).toEqual([]);
      },
    ),
  );
});

test('the surplus of a payment is at most what refunds of its order left of it', () => {
  const surplus = { status: 'applied', amountMinor: 10n, unappliedMinor: 10n } as const;
  expect(paymentBreakdown({ ...surplus, refundedMinor: 6n, orderRefundedMinor: 6n })).toMatchObject({
    unapplied: 4n,
    applied: 0n,
    refunded: 6n,
  });
});

test('a provider id names the chain that shows the money', () => {
  expect(chainOf('eip155:1/0xabc:0')).toBe('eip155:1');
  const regtest = 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328';
  expect(chainOf(`${regtest}/abc:1`)).toBe(regtest);
  expect(['0xabc', 'sandbox:eip155:1/0xabc', 'eip155:/x', 'debug_1', 'solana:1/x'].map(chainOf)).toEqual(
    Array(5).fill(null),
  );
});

test('a provider id names the outside provider that reported the money', () => {
  expect(['acme:1', 'acme-2:eip155:1/0xabc'].map(outsideProviderOf)).toEqual(['acme', 'acme-2']);
  const others = [
    'eip155:1/0xabc:0',
    'bip122:0f9188f13cb7b2c71f2a335e3a4fc328/abc:1',
    'debug_1',
    '0xabc',
    ':1',
    'Acme:1',
  ];
  expect(others.map(outsideProviderOf)).toEqual(others.map(() => null));
});

test.each([
  ['a surplus', 3n, undefined, 3n],
  ['no surplus', 0n, undefined, 0n],
  ['a surplus that is the smallest payable amount', 3n, 3n, 3n],
  ['a surplus that is too small to be sent', 2n, 3n, 0n],
])('%s: of %s, with a smallest payable amount of %s, %s is due back', (_, unappliedMinor, smallest, due) => {
  const applied = {
    ...received,
    status: 'applied',
    appliedMinor: 10_000_000n - unappliedMinor,
    unappliedMinor,
  } as const;
  expect(dueBackMinor({ ...applied, ...(smallest !== undefined && { smallestPayableMinor: smallest }) })).toBe(due);
});
