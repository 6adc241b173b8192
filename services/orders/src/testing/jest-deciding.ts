import type { ErrorCode, OrderEvent, PaymentState } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { givenFor } from '@cpg/event-sourcing/testing';
import type { CommandOf, OrderCommand } from '../order/command.ts';
import { orderDecider } from '../order/order.ts';
import { type ExistingOrder, type Order, remainingMinor } from '../order/state.ts';
import { orderView } from '../order/view.ts';
import { minutesAfterNoon, NOON, payment, paymentId } from './orders.ts';

export const given = givenFor(orderDecider);

/** The state that commands lead to. */
export const after = (...commands: OrderCommand[]): Order =>
  commands.reduce<Order>(
    (order, command) => fold(orderDecider, order, orderDecider.decide(command, order)),
    orderDecider.initial,
  );

export const existing = (order: Order): ExistingOrder => order as ExistingOrder;
export const statuses = (order: Order) => existing(order).payments.map((each) => each.status);

/** The events that commands lead to: a past for given(). */
export const past = (...commands: OrderCommand[]): OrderEvent[] => {
  let order = orderDecider.initial;
  return commands.flatMap((command) => {
    const events = orderDecider.decide(command, order);
    order = fold(orderDecider, order, events);
    return events;
  });
};

type Given = { readonly given?: readonly OrderCommand[]; readonly when: OrderCommand };
/** The events that follow, by their parts that matter: none if nothing changes. Or the code of the refusal. */
type Then = { readonly then: readonly EventParts[] | ErrorCode };
/** The order afterwards, by its parts that matter. */
type Afterwards = {
  readonly order: Partial<Omit<ExistingOrder, 'payments'>> & {
    readonly remaining?: bigint;
    /** In the order in which they came. */
    readonly payments?: readonly (PaymentState['status'] | Partial<PaymentState>)[];
  };
  /** The order as the API shows it. */
  readonly view?: object;
};
type EventParts = { readonly type: OrderEvent['type']; readonly data?: object };

/** A test of each row: given an order by its commands, when a command comes, then events follow and leave the order so. */
export const decisions = (
  rows: Readonly<Record<string, Given & ((Then & Partial<Afterwards>) | (Partial<Then> & Afterwards))>>,
): void =>
  test.each(Object.entries(rows))('%s', (_, { given: commands = [], when, then, order, view }) => {
    const decision = given(...past(...commands)).when(when);
    if (typeof then === 'string') return decision.thenRefused(then);
    if (then) decision.thenLike(...then);
    if (!order) return;
    decision.thenState((state) => {
      const afterwards = existing(state);
      const { payments, ...parts } = order;
      expect({ ...afterwards, remaining: remainingMinor(afterwards) }).toMatchObject({
        ...parts,
        ...(payments && { payments: payments.map((each) => (typeof each === 'string' ? { status: each } : each)) }),
      });
      if (view) expect(orderView(afterwards)).toMatchObject(view);
    });
  });

/** Events by their parts that matter. */
export const received = { type: 'OrderPaymentReceived' } as const;
export const confirmed = { type: 'OrderPaymentConfirmed' } as const;
export const applied = (data: object = {}) => ({ type: 'OrderPaymentsApplied', data }) as const;
export const orphaned = (orphanReason: string, data: object = {}) =>
  ({ type: 'OrderPaymentsOrphaned', data: { orphanReason, ...data } }) as const;
export const paid = { type: 'OrderPaid' } as const;
export const expired = { type: 'OrderExpired' } as const;
export const failed = (data: object = {}) => ({ type: 'OrderPaymentFailed', data }) as const;
export const reinstated = (data: object = {}) => ({ type: 'OrderPaymentReinstated', data }) as const;

/** Payment `n` fails. */
export const fail = (n: number, amountMinor = 10_000_000n, at = NOON): CommandOf<'FailPayment'> => ({
  type: 'FailPayment',
  payment: payment(n, amountMinor),
  failureReason: 'reorg',
  failedAt: at,
  at,
});
/** Payment `n` is refunded, up to this total. */
export const refund = (n: number, refundedTotalMinor: bigint, refundedAt = NOON): OrderCommand => ({
  type: 'RefundPayment',
  paymentId: paymentId(n),
  refundId: `rfd_${'0'.repeat(26)}`,
  refundedTotalMinor,
  refundedAt,
  at: minutesAfterNoon(20),
});
export const renew = (pricedMinor: bigint, at = dueAt): OrderCommand => ({
  type: 'RenewOrder',
  rates: {},
  pricedMinor,
  at,
});
export const expireAt = (at: Date): OrderCommand => ({ type: 'ExpireOrder', at });
export const dueAt = minutesAfterNoon(60);
export const cancel: OrderCommand = { type: 'CancelOrder', at: NOON };
export const accept: OrderCommand = { type: 'AcceptOrder', because: 'close enough', at: NOON };
export const capture: CommandOf<'CapturePayments'> = { type: 'CapturePayments', at: NOON };
export const remove: OrderCommand = { type: 'DeleteOrder', at: NOON };
