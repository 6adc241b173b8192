import { after, decisions, dueAt, expireAt, fail, given, refund } from '../testing/jest-deciding.ts';
import {
  createOrder,
  deposit,
  DUE,
  instruction,
  minutesAfterNoon,
  NOON,
  offer,
  orderCreated,
  paymentId,
} from '../testing/orders.ts';
import type { CommandOf, OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';

const RATE_LOCK_MAX_MINUTES = 120;
const at = minutesAfterNoon(10);
const ratesQuotedAt = (quoted: Date) => ({
  MXN: { rate: '0.05', source: 'test', quoted_at: quoted.toISOString(), expires_at: quoted.toISOString() },
});
const items = [{ name: 'coffee', quantity: 3, unit_price: '100', currency: 'MXN' as const }];

/** The order has other items, which cost 15 USDC. */
const change = (
  more: Partial<CommandOf<'UpdateOrder'>> = {},
  { totalMinor = 15_000_000n, recordedPayment = null as string | null } = {},
): CommandOf<'UpdateOrder'> => ({
  type: 'UpdateOrder',
  newItems: { items, rates: ratesQuotedAt(more.at ?? at), totalMinor, recordedPayment },
  rateLockMaxMinutes: RATE_LOCK_MAX_MINUTES,
  at,
  ...more,
});
const cancelIfUnpaid = (recordedPayment: string | null = null): OrderCommand => ({
  type: 'CancelOrder',
  ifUnpaid: { recordedPayment },
  at,
});
const unconfirmed = (n: number, amount = 10_000_000n) => offer(n, amount, { confirmed: false });

describe('other items', () => {
  decisions({
    'replace the items and the total, at new rates that are locked until the deadline, and keep the addresses': {
      given: [createOrder()],
      when: change(),
      then: [{ type: 'OrderUpdated', data: { items, totalMinor: '15000000', ratesExpireAt: DUE } }],
      order: {
        items,
        totalMinor: 15_000_000n,
        pricedMinor: 15_000_000n,
        remaining: 15_000_000n,
        expiresAt: DUE,
        ratesExpireAt: DUE,
        rates: { MXN: { ...ratesQuotedAt(at).MXN, expires_at: DUE } },
        instructions: [instruction],
      },
      view: { total_amount: '15.000000', remaining_amount: '15.000000', item_totals: { MXN: '300.00' } },
    },
    'come together with metadata and a deadline, in one event': {
      given: [createOrder()],
      when: change({ metadata: { cart: 2 }, expirationMinutes: 90 }),
      then: [
        {
          type: 'OrderUpdated',
          data: {
            items,
            metadata: { cart: 2 },
            expiresAt: minutesAfterNoon(100).toISOString(),
            ratesExpireAt: minutesAfterNoon(100).toISOString(),
            rates: { MXN: { ...ratesQuotedAt(at).MXN, expires_at: minutesAfterNoon(100).toISOString() } },
          },
        },
      ],
    },
    'do not let the deadline be later than the new rates can be locked': {
      given: [createOrder()],
      when: change({ expirationMinutes: RATE_LOCK_MAX_MINUTES + 1 }),
      then: 'rate_lock_exceeded',
    },
    'lock the rates of an order that renews for the longest time, and not beyond its deadline': {
      given: [createOrder({ allow: { expiration_auto_renewal: true }, expirationMinutes: 600 })],
      when: change(),
      order: { ratesExpireAt: minutesAfterNoon(10 + RATE_LOCK_MAX_MINUTES).toISOString() },
    },
    'lock the rates for the longest time also if the deadline moves, whenever the earlier rates would have ended': {
      given: [createOrder({ allow: { expiration_auto_renewal: true }, expirationMinutes: 600 })],
      when: change({ expirationMinutes: 600 }),
      order: {
        expiresAt: minutesAfterNoon(610).toISOString(),
        ratesExpireAt: minutesAfterNoon(10 + RATE_LOCK_MAX_MINUTES).toISOString(),
      },
    },
    'are paid by the new total, and not by the old one': {
      given: [createOrder(), change()],
      when: offer(1, 10_000_000n, { at }),
      order: { status: 'partially_paid', remaining: 5_000_000n },
    },
    'that cost less leave a surplus of money at the old total': {
      given: [createOrder(), change({}, { totalMinor: 4_000_000n })],
      when: offer(1, 10_000_000n, { at }),
      order: { status: 'paid', payments: [{ appliedMinor: 4_000_000n, unappliedMinor: 6_000_000n }] },
    },
    'count for money that its chain saw before the change, because the merchant has the answer 200': {
      given: [createOrder({ allow: { partial_payments: false } }), change()],
      when: offer(1, 10_000_000n, { at: minutesAfterNoon(11), seenAt: NOON.toISOString() }),
      order: { status: 'awaiting_payment', remaining: 15_000_000n, payments: ['received'] },
    },
    'are refused once a payment was seen, although it is not confirmed': {
      given: [createOrder(), unconfirmed(1)],
      when: change(),
      then: 'payment_in_progress',
    },
    'are refused when the payments service has a payment that the order does not know': {
      given: [createOrder()],
      when: change({}, { recordedPayment: paymentId(1) }),
      then: 'payment_in_progress',
    },
    'are refused after a part was paid': {
      given: [createOrder(), offer(1, 4_000_000n)],
      when: change(),
      then: 'payment_in_progress',
    },
    'are refused after money in another currency was seen': {
      given: [createOrder(), offer(1, 4_000_000n, { currency: 'BTC' })],
      when: change(),
      then: 'payment_in_progress',
    },
    'are allowed again after the payment failed': {
      given: [createOrder(), unconfirmed(1), fail(1)],
      when: change(),
      order: { totalMinor: 15_000_000n, remaining: 15_000_000n },
    },
    'are allowed again after all money went back': {
      given: [createOrder(), offer(1, 4_000_000n), refund(1, 4_000_000n)],
      when: change({ at: minutesAfterNoon(30) }),
      order: { status: 'awaiting_payment', remaining: 15_000_000n },
    },
    'need an order that can be updated': {
      given: [createOrder({ allow: { can_update: false } })],
      when: change(),
      then: 'update_not_allowed',
    },
    'need an order that can still be paid': {
      given: [createOrder(), { type: 'CancelOrder', at: NOON }],
      when: change(),
      then: 'order_state_conflict',
    },
    'do not bring an expired order back': {
      given: [createOrder(), expireAt(dueAt)],
      when: change({ at: dueAt }),
      then: 'order_state_conflict',
    },
    'need a deadline ahead': { given: [createOrder()], when: change({ at: dueAt }), then: 'order_state_conflict' },
    'may move the deadline of an order that has not expired yet': {
      given: [createOrder()],
      when: change({ at: dueAt, expirationMinutes: 10 }),
      order: { status: 'awaiting_payment', expiresAt: minutesAfterNoon(70).toISOString() },
    },
    'wait for the deposit instructions': {
      given: [createOrder({ instructions: undefined })],
      when: change(),
      then: 'order_state_conflict',
    },
    'do not cost less than each address of the order can take': {
      given: [createOrder({ instructions: [{ ...deposit('ethereum'), smallestPayableMinor: '15000001' }] })],
      when: change(),
      then: 'amount_too_small',
    },
    'are refused while an outside provider shows the first total': {
      given: [createOrder({ instructions: [{ ...instruction, provider: 'acme' }] })],
      when: change(),
      then: 'update_not_allowed',
    },
  });
});

test('a total that an address cannot take is named with the least that it takes', () => {
  const order = after(createOrder({ instructions: [{ ...deposit('ethereum'), smallestPayableMinor: '15000001' }] }));
  expect(() => orderDecider.decide(change(), order)).toThrow(
    'the total is 15.000000 USDC, and the address of the order on ethereum takes at least 15.000001: ',
  );
});

describe('a cancel of an unpaid order', () => {
  decisions({
    'cancels an order without money': {
      given: [createOrder()],
      when: cancelIfUnpaid(),
      then: [{ type: 'OrderCanceled', data: { orphanedPaymentIds: [] } }],
    },
    'is refused once a payment was seen, although it is not confirmed': {
      given: [createOrder(), unconfirmed(1)],
      when: cancelIfUnpaid(),
      then: 'payment_in_progress',
    },
    'is refused when the payments service has a payment that the order does not know': {
      given: [createOrder()],
      when: cancelIfUnpaid(paymentId(1)),
      then: 'payment_in_progress',
    },
    'is refused after a part was paid': {
      given: [createOrder(), offer(1, 4_000_000n)],
      when: cancelIfUnpaid(),
      then: 'payment_in_progress',
    },
    'is refused for a paid order, for the same reason': {
      given: [createOrder(), offer(1, 10_000_000n)],
      when: cancelIfUnpaid(),
      then: 'payment_in_progress',
    },
    'cancels after the payment failed': {
      given: [createOrder(), unconfirmed(1), fail(1)],
      when: cancelIfUnpaid(),
      order: { status: 'canceled', payments: ['failed'] },
    },
    'changes nothing when it is repeated, also after money came': {
      given: [createOrder(), cancelIfUnpaid(), offer(1, 10_000_000n)],
      when: cancelIfUnpaid(paymentId(1)),
      then: [],
    },
    'needs an order that can be canceled': {
      given: [createOrder({ allow: { can_cancel: false } }), unconfirmed(1)],
      when: cancelIfUnpaid(),
      then: 'cancel_not_allowed',
    },
    'without the condition cancels although money is on its way, which becomes an orphan': {
      given: [createOrder(), unconfirmed(1), { type: 'CancelOrder', at }],
      when: offer(1, 10_000_000n, { at }),
      order: { status: 'canceled', payments: [{ status: 'orphan', orphanReason: 'canceled' }] },
    },
  });

  test('and an order without items to change is an ordinary update', () =>
    given(orderCreated())
      .when(change({ newItems: undefined, metadata: { cart: 2 } }))
      .thenLike({ type: 'OrderUpdated', data: { metadata: { cart: 2 } } }));
});
