import { paymentView, paymentBreakdown } from '@cpg/contracts';
import { fold } from '@cpg/core';
import fc from 'fast-check';
import {
  applied,
  confirm,
  failed,
  fails,
  orphaned,
  receive,
  received,
  record,
  refunded,
  RFD,
  RFD2,
  seen,
  T0,
} from '../testing/jest-payment-events.ts';
import type { Outcome, PaymentCommand } from './command.ts';
import { paymentDecider } from './payment.ts';
import { exists, type Payment } from './state.ts';

const anyAt = fc.integer({ min: 0, max: 1_000 }).map((seconds) => new Date(T0.getTime() + seconds * 1_000));
const anyAmount = fc.bigInt({ min: -1n, max: 12_000n });
const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    status: fc.constant('applied' as const),
    appliedMinor: fc.bigInt(1n, 10_000n),
    unappliedMinor: fc.constant(0n),
    at: anyAt,
  }),
  fc.record({
    status: fc.constant('orphan' as const),
    orphanReason: fc.constantFrom('late', 'canceled', 'already_paid'),
    at: anyAt,
  }),
);
const anyCommand: fc.Arbitrary<PaymentCommand> = fc.oneof(
  fc.boolean().map((confirmed) => receive({ confirmed })),
  fc.constant(confirm),
  anyOutcome.map(record),
  fc.constant(fails),
  fc.record({
    type: fc.constant('RefundPayment' as const),
    refundId: fc.constantFrom(RFD, RFD2),
    amountMinor: fc.option(anyAmount, { nil: undefined }),
    at: anyAt,
  }),
);

const after = (commands: readonly PaymentCommand[], start: Payment = paymentDecider.initial): Payment =>
  commands.reduce((payment, command) => {
    try {
      return fold(paymentDecider, payment, paymentDecider.decide(command, payment));
    } catch {
      return payment;
    }
  }, start);

test('fee and net add up to the paid amount, and refunds never exceed it', () => {
  fc.assert(
    fc.property(fc.array(anyCommand, { maxLength: 30 }), (commands) => {
      const payment = after([receive(), ...commands]);
      if (!exists(payment)) throw new Error('the payment does not exist');
      const shown = paymentView(payment);
      expect(payment.refundedMinor).toBeLessThanOrEqual(payment.amountMinor);
      expect(payment.refundedMinor === payment.amountMinor).toBe(payment.status === 'refunded');
      const parts = Object.values(paymentBreakdown(payment)) as bigint[];
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(payment.amountMinor);
      expect(Number(shown.fee_amount) + Number(shown.net_amount)).toBeCloseTo(Number(shown.paid_amount), 8);
      expect(payment.appliedMinor > 0n).toBe(payment.status === 'applied');
    }),
  );
});

test('the same outcomes lead to the same status in any order, repeated or not', () => {
  const outcomes = fc.uniqueArray(anyOutcome.map(record), {
    maxLength: 4,
    selector: (command) => JSON.stringify(command, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  });
  fc.assert(
    fc.property(
      outcomes.chain((each) =>
        fc.tuple(
          fc.shuffledSubarray([...each, ...each], { minLength: each.length * 2 }),
          fc.shuffledSubarray(each, { minLength: each.length }),
        ),
      ),
      ([one, other]) => {
        const statusAfter = (commands: PaymentCommand[]) => {
          const payment = after([receive(), ...commands]);
          return { status: payment.status, canceled: exists(payment) && payment.orphanReason === 'canceled' };
        };
        expect(statusAfter(one)).toEqual(statusAfter(other));
      },
    ),
  );
});

test('folding any events never throws', () => {
  const anyEvent = fc.constantFrom(
    received(),
    seen,
    applied,
    orphaned(),
    failed,
    refunded('4000'),
    refunded('10000'),
    orphaned('canceled'),
  );
  fc.assert(fc.property(fc.array(anyEvent), (events) => void fold(paymentDecider, paymentDecider.initial, events)));
});
