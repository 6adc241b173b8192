import {
  applied,
  cancel,
  capture,
  confirmed,
  decisions,
  dueAt,
  expireAt,
  fail,
  orphaned,
  paid,
  received,
  refund,
} from '../testing/jest-deciding.ts';
import { createOrder, deposit, minutesAfterNoon, offer, paymentId } from '../testing/orders.ts';

describe('capture', () => {
  const late = (n: number, amountMinor: bigint) => offer(n, amountMinor, { at: minutesAfterNoon(60 + n) });
  const expired = [createOrder(), expireAt(dueAt)];
  const unconfirmed = (n: number) => offer(n, 10_000_000n, { confirmed: false });

  const sighted = offer(1, 10_000_000n, { confirmed: false, confirmations: 0 });
  const block = { height: 7, hash: '0x7a' };
  const mined = offer(1, 10_000_000n, { confirmed: false, confirmations: 1, block, blockChanges: 1 });
  const lost = offer(1, 10_000_000n, { confirmed: false, confirmations: 0, blockChanges: 2 });

  decisions({
    'applies held payments whatever the capabilities are': {
      given: [createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n)],
      when: capture,
      order: { status: 'partially_paid', payments: ['applied'] },
    },
    'applies a late orphan of an expired order': {
      given: [...expired, late(1, 4_000_000n)],
      when: capture,
      order: { status: 'partially_paid_expired' },
    },
    'applies late orphans of an expired order that settle it': {
      given: [...expired, late(1, 4_000_000n), late(2, 6_000_000n)],
      when: capture,
      order: { status: 'paid' },
    },
    'applies no unconfirmed token that does not count as the currency': {
      given: [createOrder(), offer(1, 10_000_000n, { confirmed: false, assetLabel: 'USDC.e', credited: false })],
      when: capture,
      then: [],
    },
    'applies no token that does not count as the currency': {
      given: [createOrder(), offer(1, 10_000_000n, { assetLabel: 'USDC.e', credited: false })],
      when: capture,
      then: [],
    },
    'changes nothing without pending payments': {
      given: [createOrder()],
      when: capture,
      then: [],
    },
    'leaves late orphans that the order does not need': {
      given: [...expired, late(1, 10_000_000n), late(2, 6_000_000n)],
      when: capture,
      order: {
        payments: [
          { status: 'applied', orphanReason: undefined },
          { status: 'orphan', orphanReason: 'late' },
        ],
      },
    },
    'leaves late orphans that the order does not need, also when it is repeated': {
      given: [...expired, late(1, 10_000_000n), late(2, 6_000_000n), capture],
      when: capture,
      then: [],
    },
    'applies the rest of a late orphan that was refunded in part': {
      given: [...expired, late(1, 8_000_000n), refund(1, 3_000_000n)],
      when: capture,
      order: { status: 'partially_paid_expired', remaining: 5_000_000n },
    },
    'applies the rest of a late orphan that was refunded in part, together with another': {
      given: [...expired, late(1, 8_000_000n), refund(1, 3_000_000n), late(2, 6_000_000n)],
      when: capture,
      order: { status: 'paid' },
      view: {
        payments: [
          { status: 'applied', applied_amount: '5.000000', refunded_amount: '3.000000' },
          { status: 'applied', applied_amount: '5.000000', unapplied_amount: '1.000000' },
        ],
      },
    },
    'shows what is due for refund of a late orphan that was refunded in part': {
      given: [...expired, late(1, 15_000_000n), refund(1, 3_000_000n)],
      when: capture,
      order: { status: 'paid' },
      view: {
        payments: [{ applied_amount: '10.000000', unapplied_amount: '2.000000', refunded_amount: '3.000000' }],
      },
    },
    'leaves a payment that no block contains': {
      given: [createOrder(), sighted],
      when: capture,
      then: [],
    },
    'applies an unconfirmed payment that a block contains': {
      given: [createOrder(), sighted, mined],
      when: capture,
      order: { status: 'paid' },
    },
    'leaves a payment that no block contains any more': {
      given: [createOrder(), sighted, mined, lost],
      when: capture,
      order: { status: 'awaiting_payment' },
    },
    'applies an unconfirmed payment of a rail that counts no confirmations': {
      given: [createOrder(), unconfirmed(1)],
      when: capture,
      order: { status: 'paid' },
    },
    'marks the only payment that the paid order no longer needs as an orphan': {
      given: [createOrder(), unconfirmed(1), unconfirmed(2)],
      when: capture,
      then: [
        applied({ allocations: [{ paymentId: paymentId(1) }] }),
        paid,
        orphaned('already_paid', { paymentIds: [paymentId(2)] }),
      ],
    },
    'a confirmation after the capture is still recorded': {
      given: [createOrder(), unconfirmed(1), capture],
      when: offer(1, 10_000_000n, { confirmations: 2 }),
      then: [{ type: 'OrderPaymentConfirmed', data: { confirmations: 2 } }],
    },
    'leaves a paid order and its orphans as they are': {
      given: [createOrder(), offer(1, 10_000_000n), offer(2, 3_000_000n)],
      when: capture,
      then: [],
    },
    'leaves a paid order with can_overpay and its orphans as they are': {
      given: [createOrder({ allow: { can_overpay: true } }), offer(1, 10_000_000n), offer(2, 3_000_000n)],
      when: capture,
      then: [],
    },
    'leaves money of another currency': {
      given: [createOrder(), offer(1, 10_000_000n, { currency: 'BTC' })],
      when: capture,
      then: [],
    },
    'leaves an orphan that a refund pays back': {
      given: [...expired, late(1, 4_000_000n), late(2, 5_000_000n)],
      when: { ...capture, openRefunds: { [paymentId(1)]: 'rfd_1' } },
      then: [applied({ allocations: [{ paymentId: paymentId(2) }], status: 'partially_paid_expired' })],
    },
    'is refused if refunds pay back all that it could apply': {
      given: [...expired, late(1, 4_000_000n), late(2, 5_000_000n)],
      when: { ...capture, openRefunds: { [paymentId(1)]: 'rfd_1', [paymentId(2)]: 'rfd_2' } },
      then: 'order_state_conflict',
    },
    'is refused before the order has deposit instructions': {
      given: [createOrder({ instructions: undefined }), offer(1, 10_000_000n)],
      when: capture,
      then: 'order_state_conflict',
    },
    'is refused for a canceled order': {
      given: [createOrder(), cancel],
      when: capture,
      then: 'order_state_conflict',
    },
  });
});

describe('a token of the currency', () => {
  const shown = { ...deposit('ethereum'), asset: 'eip155:1/erc20:0xold' };
  const retired = offer(1, 10_000_000n, { asset: shown.asset, credited: false });

  decisions({
    'applies, whatever its label is': {
      given: [createOrder()],
      when: offer(1, 10_000_000n, { assetLabel: 'USDC.e' }),
      order: { status: 'paid' },
    },
    'applies if the order itself shows it, though the table does not offer it any more': {
      given: [createOrder({ instructions: [shown] })],
      when: retired,
      order: { status: 'paid' },
    },
    'does not apply if neither the order nor the table shows it': {
      given: [createOrder()],
      when: retired,
      order: { status: 'awaiting_payment' },
    },
  });
});

describe('excess of a paid order', () => {
  decisions({
    'is an orphan as soon as it is confirmed': {
      given: [createOrder(), offer(1, 10_000_000n), offer(2, 10_000_000n, { confirmed: false })],
      when: offer(2, 10_000_000n),
      then: [confirmed, orphaned('already_paid')],
    },
    'does not pay an order again that was refunded': {
      given: [createOrder(), offer(1, 10_000_000n), offer(2, 4_000_000n), refund(1, 10_000_000n)],
      when: offer(3, 6_000_000n),
      then: [received],
    },
    'pays an order again that lost a payment': {
      given: [createOrder(), offer(1, 10_000_000n), offer(2, 4_000_000n), fail(1)],
      when: offer(3, 6_000_000n),
      then: [received, applied({ allocations: [{ paymentId: paymentId(3) }, { paymentId: paymentId(2) }] }), paid],
    },
  });
});
