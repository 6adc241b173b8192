import { paymentBreakdown, toMinor } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import fc from 'fast-check';
import {
  addressRefund,
  cancelRefund,
  confirmPayment,
  failPayment,
  paymentApplied,
  paymentFailed,
  paymentOrphaned,
  paymentReceived,
  paymentReceivedUnconfirmed,
  paymentRefunded,
  RECEIVED_AT,
  receivePayment,
  recordOutcome,
  REFUND_ID,
  reopenRefund,
  reportRefund,
  requestRefund,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import type { Outcome, PaymentCommand } from './command.ts';
import { paymentDecider } from './payment.ts';
import { type Posting, positionOf } from './postings.ts';
import {
  type ExistingPayment,
  exists,
  type Payment,
  type PaymentRefund,
  reservedMinor,
  UNCLAIMED_MERCHANT,
  unreservedDueMinor,
} from './state.ts';
import { paymentResource } from './view.ts';

const THIRD_REFUND_ID = 'rfd_01J0000000000000000000000F';
const FOURTH_REFUND_ID = 'rfd_01J0000000000000000000000G';

const anyAt = fc.integer({ min: 0, max: 1_000 }).map((seconds) => new Date(RECEIVED_AT.getTime() + seconds * 1_000));
const anyAmount = fc.bigInt({ min: -1n, max: 12_000n });
const anyOutcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc
    .record({
      status: fc.constant('applied' as const),
      appliedMinor: fc.bigInt(1n, 10_000n),
      smallestPayableMinor: fc.constantFrom(undefined, 3_000n),
      at: anyAt,
    })
    .map((applied) => ({ ...applied, unappliedMinor: 10_000n - applied.appliedMinor })),
  fc.record({
    status: fc.constant('orphan' as const),
    orphanReason: fc.constantFrom('late', 'canceled', 'already_paid'),
    at: anyAt,
  }),
);
const anyCommand: fc.Arbitrary<PaymentCommand> = fc.oneof(
  fc.boolean().map((confirmed) => receivePayment({ confirmed })),
  fc.constant(confirmPayment),
  anyOutcome.map(recordOutcome),
  fc.constant(failPayment),
  fc.record({
    type: fc.constant('RefundPayment' as const),
    refundId: fc.constantFrom(REFUND_ID, SECOND_REFUND_ID),
    amountMinor: anyAmount,
    at: anyAt,
  }),
  fc.record({
    type: fc.constant('RefundPayment' as const),
    refundId: fc.constantFrom(REFUND_ID, SECOND_REFUND_ID),
    what: fc.constantFrom(undefined, 'surplus', 'all'),
    at: anyAt,
  }),
  ...[SECOND_REFUND_ID, THIRD_REFUND_ID].flatMap((refundId) => [
    fc.option(anyAmount, { nil: undefined }).map((amountMinor) => requestRefund(amountMinor, refundId)),
    fc.constantFrom(addressRefund(refundId), reopenRefund(refundId), cancelRefund(refundId)),
    fc.boolean().map((isFinal) => reportRefund(isFinal, { refundId })),
  ]),
);

const stateAfter = (commands: readonly PaymentCommand[], start: Payment = paymentDecider.initial): Payment =>
  commands.reduce((payment, command) => {
    try {
      return fold(paymentDecider, payment, paymentDecider.decide(command, payment));
    } catch {
      return payment;
    }
  }, start);

test('fee and net add up to the paid amount, and refunds and what they reserve never exceed it', () => {
  fc.assert(
    fc.property(fc.array(anyCommand, { maxLength: 30 }), (commands) => {
      const payment = stateAfter([receivePayment(), ...commands]);
      if (!exists(payment)) throw new Error('the payment does not exist');
      const shown = paymentResource(payment);
      expect(payment.refundedMinor + reservedMinor(payment)).toBeLessThanOrEqual(payment.amountMinor);
      expect(toMinor(shown.reserved_amount ?? '0', payment.decimals)).toBe(reservedMinor(payment));
      const isPaidBack = ({ status }: PaymentRefund) => status === 'recorded' || status === 'settled';
      const paidBack = payment.refunds.filter(isPaidBack).map(({ amountMinor }) => amountMinor);
      expect(paidBack.reduce((sum, amount) => sum + amount, 0n)).toBe(payment.refundedMinor);
      expect(payment.refundedMinor === payment.amountMinor).toBe(payment.status === 'refunded');
      const parts = Object.values(paymentBreakdown(payment)) as bigint[];
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(payment.amountMinor);
      expect(Number(shown.fee_amount) + Number(shown.net_amount)).toBeCloseTo(Number(shown.paid_amount), 8);
      expect(payment.appliedMinor > 0n).toBe(payment.status === 'applied');
    }),
  );
});

test('entries and owners add up to zero, and the lines of the owner to where its money is', () => {
  const { orderId: _, ...unclaimed } = receivePayment({ merchantId: UNCLAIMED_MERCHANT });
  const assign: PaymentCommand = {
    ...{
      type: 'AssignPayment',
      merchantId: 'mer_01J0000000000000000000000P',
      orderId: 'ord_01J0000000000000000000000A',
    },
    ...{ reason: 'r', by: 'ana', at: RECEIVED_AT },
  };
  const commands = fc.array(fc.oneof({ weight: 9, arbitrary: anyCommand }, fc.constant(assign)), { maxLength: 30 });
  fc.assert(
    fc.property(
      fc.constantFrom(receivePayment(), { ...unclaimed, orderId: 'bc1q', address: 'bc1q' }),
      commands,
      (first, next) => {
        const payment = stateAfter([first, ...next]) as ExistingPayment;
        const { postings, merchantId, orderId } = payment;
        for (const keyOf of [({ entry }: Posting) => String(entry), (each: Posting) => each.merchantId + each.orderId])
          expect(sumsBy(postings, keyOf)).toEqual([]);
        const own = postings.filter((each) => each.merchantId === merchantId && each.orderId === orderId);
        const position = positionOf(payment);
        expect(sumsBy(own, ({ account }) => account)).toEqual(
          Object.entries(position)
            .filter(([, sum]) => sum !== 0n)
            .sort(),
        );
        expect(position.net + position.fee - paymentBreakdown(payment).applied).toBe(0n);
      },
    ),
  );
});

/** The sums that are not zero, by key. */
const sumsBy = (postings: readonly Posting[], keyOf: (posting: Posting) => string): [string, bigint][] => {
  const sums = new Map<string, bigint>();
  for (const posting of postings) sums.set(keyOf(posting), (sums.get(keyOf(posting)) ?? 0n) + posting.amountMinor);
  return [...sums].filter(([, sum]) => sum !== 0n).sort();
};

test('a refund of the surplus takes nothing of what is applied, and leaves nothing due', () => {
  fc.assert(
    fc.property(fc.array(anyCommand, { maxLength: 20 }), fc.constantFrom(undefined, 'surplus'), (commands, what) => {
      const before = stateAfter([receivePayment(), ...commands]) as ExistingPayment;
      const command = { type: 'RefundPayment', refundId: FOURTH_REFUND_ID, what, at: RECEIVED_AT } as const;
      const after = stateAfter([command], before) as ExistingPayment;
      expect(paymentBreakdown(after).applied).toBe(paymentBreakdown(before).applied);
      expect(after.refundedMinor - before.refundedMinor).toBe(unreservedDueMinor(before));
      expect(unreservedDueMinor(after)).toBe(0n);
    }),
  );
});

test('the same outcomes lead to the same status in any order, repeated or not', () => {
  const outcomes = fc.uniqueArray(anyOutcome.map(recordOutcome), {
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
      ([repeated, once]) => {
        const statusAfter = (commands: PaymentCommand[]) => {
          const payment = stateAfter([receivePayment(), ...commands]);
          return { status: payment.status, canceled: exists(payment) && payment.orphanReason === 'canceled' };
        };
        expect(statusAfter(repeated)).toEqual(statusAfter(once));
      },
    ),
  );
});

test('folding any events never throws', () => {
  const anyEvent = fc.constantFrom(
    paymentReceived(),
    paymentReceivedUnconfirmed,
    paymentApplied,
    paymentOrphaned(),
    paymentFailed,
    paymentRefunded('4000'),
    paymentRefunded('10000'),
    paymentOrphaned('canceled'),
  );
  fc.assert(fc.property(fc.array(anyEvent), (events) => void fold(paymentDecider, paymentDecider.initial, events)));
});
