import { type PaymentEvent, paymentView, whereabouts } from '@cpg/contracts';
import { fold, givenFor } from '@cpg/core';
import fc from 'fast-check';
import { type Outcome, type PaymentCommand, paymentDecider, type ReceivePayment } from './payment.ts';
import { type ExistingPayment, exists, type Payment, UNCLAIMED_MERCHANT } from './state.ts';

const given = givenFor(paymentDecider);

const ORDER = 'ord_01J0000000000000000000000A';
const T0 = new Date('2026-01-31T12:00:00.000Z');
const T1 = new Date('2026-01-31T12:01:00.000Z');
const at = T1.toISOString();

const receive = (changes: Partial<ReceivePayment> = {}): ReceivePayment => ({
  type: 'ReceivePayment',
  paymentId: 'pay_01J0000000000000000000000B',
  merchantId: 'mer_01J0000000000000000000000C',
  orderId: ORDER,
  rail: 'crypto_deposit',
  providerId: 'bip122:000000000933ea01ad0ee984209779ba/f00d:0',
  currency: 'BTC',
  amountMinor: 10_000n,
  feeMinor: 100n,
  feeSchedule: '2026-01-01',
  confirmed: true,
  seenAt: T0,
  at: T0,
  ...changes,
});

const received = (changes: Partial<ReceivePayment> = {}): PaymentEvent =>
  paymentDecider.decide(receive(changes), paymentDecider.initial)[0]!;
const seen = received({ confirmed: false });
const applied: PaymentEvent = {
  type: 'PaymentApplied',
  data: { orderId: ORDER, appliedMinor: '9000', unappliedMinor: '1000', at },
};
const orphaned = (orphanReason: 'late' | 'canceled' | 'unknown_order' = 'late'): PaymentEvent => ({
  type: 'PaymentOrphaned',
  data: { orphanReason, at },
});
const failed: PaymentEvent = { type: 'PaymentFailed', data: { failureReason: 'reorg', at } };
const refunded = (amountMinor: string, refundedTotalMinor = amountMinor, refundId = RFD): PaymentEvent => ({
  type: 'PaymentRefunded',
  data: { refundId, amountMinor, refundedTotalMinor, at },
});
const RFD = 'rfd_01J0000000000000000000000D';
const RFD2 = 'rfd_01J0000000000000000000000E';

const confirm: PaymentCommand = { type: 'ConfirmPayment', confirmations: 2, at: T1 };
const record = (outcome: Outcome): PaymentCommand => ({ type: 'RecordOutcome', outcome });
const isApplied = record({ status: 'applied', appliedMinor: 9_000n, unappliedMinor: 1_000n, at: T1 });
const isOrphan = record({ status: 'orphan', orphanReason: 'late', at: T1 });
const isCanceled = record({ status: 'orphan', orphanReason: 'canceled', at: T1 });
const fails: PaymentCommand = { type: 'FailPayment', failureReason: 'reorg', at: T1 };
const refund = (amountMinor?: bigint, refundId = RFD): PaymentCommand => ({
  type: 'RefundPayment',
  refundId,
  amountMinor,
  at: T1,
});

describe('receiving', () => {
  test('records the money with its fee', () =>
    given()
      .when(receive())
      .thenLike({
        type: 'PaymentReceived',
        data: {
          orderId: ORDER,
          amountMinor: '10000',
          feeMinor: '100',
          feeSchedule: '2026-01-01',
          at: T0.toISOString(),
        },
      }));
  test('the same again changes nothing', () => given(received()).when(receive()).thenNothing());
  test('the same again, now confirmed, confirms it', () =>
    given(seen)
      .when(receive({ confirmations: 2, at: T1 }))
      .then({ type: 'PaymentConfirmed', data: { confirmations: 2, at } }));
  test('the same again, not confirmed any more, changes nothing', () =>
    given(received())
      .when(receive({ confirmed: false }))
      .thenNothing());
  test.each([{ orderId: 'ord_other' }, { amountMinor: 9_999n }, { currency: 'ETH' as const }])(
    'refuses the same money with %j',
    (changes) => given(received()).when(receive(changes)).thenRefused('payment_conflict'),
  );
  test('a refusal says what differs', () => {
    const decide = () =>
      paymentDecider.decide(
        receive({ orderId: 'ord_other', amountMinor: 9_999n }),
        fold(paymentDecider, paymentDecider.initial, [received()]),
      );
    expect(decide).toThrow(`another order (${ORDER}), another amount (0.00010000)`);
  });
  test('money for no order we have is an orphan at once', () =>
    given()
      .when(receive({ merchantId: UNCLAIMED_MERCHANT }))
      .thenLike({ type: 'PaymentReceived' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_order' } }));
  test('money at an address of no order is an orphan for that reason', () =>
    given()
      .when(receive({ merchantId: UNCLAIMED_MERCHANT, orderId: '0xabc', address: '0xabc' }))
      .thenLike({ type: 'PaymentReceived' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_address' } }));
  test('money for no order we have is an orphan only once its rail confirms it', () => {
    given()
      .when(receive({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }))
      .thenLike({ type: 'PaymentReceived' });
    given(received({ merchantId: UNCLAIMED_MERCHANT, confirmed: false }))
      .when(confirm)
      .thenLike({ type: 'PaymentConfirmed' }, { type: 'PaymentOrphaned', data: { orphanReason: 'unknown_order' } });
  });
});

describe('confirming', () => {
  test('records what its rail says', () =>
    given(seen)
      .when(confirm)
      .then({ type: 'PaymentConfirmed', data: { confirmations: 2, at } }));
  test('twice changes nothing', () => given(received()).when(confirm).thenNothing());
  test.each([[applied], [orphaned()]])('that comes after its order decided is recorded: %j', (event) =>
    given(seen, event)
      .when(confirm)
      .then({ type: 'PaymentConfirmed', data: { confirmations: 2, at } }),
  );
  test('changes nothing once all is refunded', () =>
    given(seen, applied, refunded('10000')).when(confirm).thenNothing());
  test('is refused once it failed, though the same report as before changes nothing', () => {
    given(seen, failed).when(confirm).thenRefused('payment_conflict');
    given(seen, failed).when(receive()).thenNothing();
  });
});

describe("its order's decision", () => {
  test('applies a received payment', () => given(received()).when(isApplied).then(applied));
  test('makes a received payment an orphan', () => given(received()).when(isOrphan).then(orphaned()));
  test('applies an orphan that is captured', () => given(received(), orphaned()).when(isApplied).then(applied));
  test('takes an applied payment back when the order is canceled', () =>
    given(received(), applied).when(isCanceled).then(orphaned('canceled')));
  test('twice changes nothing', () => {
    given(received(), applied).when(isApplied).thenNothing();
    given(received(), orphaned()).when(isOrphan).thenNothing();
  });
  test('that comes late does not undo a capture', () =>
    given(received(), orphaned(), applied).when(isOrphan).thenNothing());
  test('that comes late does not undo a cancellation', () =>
    given(received(), applied, orphaned('canceled')).when(isApplied).thenNothing());
  test.each([isApplied, isOrphan, isCanceled])('is ignored once the money is gone: %j', (command) => {
    given(received(), applied, failed).when(command).thenNothing();
    given(received(), applied, refunded('10000')).when(command).thenNothing();
  });
});

describe('failing', () => {
  test.each([[[received()]], [[seen]], [[received(), applied]]])('takes back what was received or applied', (past) =>
    given(...past)
      .when(fails)
      .then(failed),
  );
  test.each([
    ['dropped', []],
    ['reorg', [applied]],
  ])('without a reason it is %s', (failureReason, past) =>
    given(received(), ...past)
      .when({ type: 'FailPayment', at: T1 })
      .then({ type: 'PaymentFailed', data: { failureReason, at } }),
  );
  test('twice changes nothing', () => given(received(), failed).when(fails).thenNothing());
  test('is refused for an orphan', () => given(received(), orphaned()).when(fails).thenRefused('payment_conflict'));
  test('is refused once refunded', () =>
    given(received(), orphaned(), refunded('10000')).when(fails).thenRefused('payment_conflict'));
});

describe('refunding', () => {
  test.each([[applied], [orphaned()]])('gives all of it back after %j', (event) => {
    given(received(), event).when(refund()).then(refunded('10000'));
    given(received(), event)
      .when(refund())
      .thenState((payment) => expect(payment.status).toBe('refunded'));
  });
  test('a part leaves the status', () =>
    given(received(), applied)
      .when(refund(4_000n))
      .thenState((payment) => expect(payment).toMatchObject({ status: 'applied', refundedMinor: 4_000n })));
  test('what is left after a part', () =>
    given(received(), applied, refunded('4000'))
      .when(refund(undefined, RFD2))
      .then(refunded('6000', '10000', RFD2)));
  test('the same refund again changes nothing', () =>
    given(received(), applied, refunded('4000')).when(refund(4_000n)).thenNothing());
  test('refuses more than is left', () =>
    given(received(), applied, refunded('4000')).when(refund(6_001n, RFD2)).thenRefused('invalid_request'));
  test('refuses nothing', () => given(received(), applied).when(refund(0n)).thenRefused('invalid_request'));
  test('refuses when nothing is left', () =>
    given(received(), applied, refunded('10000')).when(refund(1n, RFD2)).thenRefused('nothing_to_refund'));
  test('in a hundred parts at most, and then all that is left', () => {
    const parts = Array.from({ length: 100 }, (_, n) =>
      refunded('1', String(n + 1), `${RFD2.slice(0, -3)}${String(n).padStart(3, '0')}`),
    );
    given(received(), applied, ...parts)
      .when(refund(1n))
      .thenRefused('payment_conflict');
    given(received(), applied, ...parts)
      .when(refund())
      .then(refunded('9900', '10000'));
    given(received(), applied, ...parts.slice(1))
      .when(refund(1n))
      .thenLike({ type: 'PaymentRefunded' });
  });
  test('refuses a failed payment', () => given(received(), failed).when(refund()).thenRefused('payment_conflict'));
  test('refuses what is not settled', () => given(received()).when(refund()).thenRefused('payment_conflict'));
});

test.each([confirm, isApplied, fails, refund()])('nothing happens to money that never came: %j', (command) =>
  given().when(command).thenRefused('not_found'),
);

test('the API shows it with amounts of fixed scale', () =>
  given(received())
    .when(isApplied)
    .thenState((payment) =>
      expect(paymentView(payment as ExistingPayment)).toMatchObject({
        status: 'applied',
        paid_amount: '0.00010000',
        fee_amount: '0.00000100',
        net_amount: '0.00009900',
        applied_amount: '0.00009000',
        unapplied_amount: '0.00001000',
        updated_at: at,
      }),
    ));

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

test('whatever happens, what is paid is fee and net, and no more than that is refunded', () => {
  fc.assert(
    fc.property(fc.array(anyCommand, { maxLength: 30 }), (commands) => {
      const payment = after([receive(), ...commands]);
      if (!exists(payment)) throw new Error('it was received');
      const shown = paymentView(payment);
      expect(payment.refundedMinor).toBeLessThanOrEqual(payment.amountMinor);
      expect(payment.refundedMinor === payment.amountMinor).toBe(payment.status === 'refunded');
      const parts = Object.values(whereabouts(payment)) as bigint[];
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(payment.amountMinor);
      expect(Number(shown.fee_amount) + Number(shown.net_amount)).toBeCloseTo(Number(shown.paid_amount), 8);
      expect(payment.appliedMinor > 0n).toBe(payment.status === 'applied');
    }),
  );
});

test('the same outcomes, in any order and however often, end the same', () => {
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
