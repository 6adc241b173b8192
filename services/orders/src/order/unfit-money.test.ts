import {
  after,
  cancel,
  capture,
  dueAt,
  existing,
  expireAt,
  fail,
  given,
  past,
  statuses,
} from '../testing/jest-deciding.ts';
import { createOrder, deposit, instruction, minutesAfterNoon, NOON, offer, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderView } from './view.ts';

const BITCOIN = 'bip122:000000000019d6689c085ae165831e93';
const [ETHEREUM, SEPOLIA] = ['eip155:1', 'eip155:11155111'];

const seconds = (n: number) => milliseconds(n * 1_000);
const milliseconds = (n: number) => new Date(NOON.getTime() + n);
const bitcoinDeposit = { ...deposit('bitcoin'), chainId: BITCOIN };
const create = (changes: Parameters<typeof createOrder>[0] = {}) =>
  createOrder({ instructions: [deposit('ethereum'), bitcoinDeposit], ...changes });

/** Money on a chain, in a block of this time. */
const onChain = (
  chain: string,
  { time = NOON, n = 1, ...options }: { time?: Date; n?: number } & Parameters<typeof offer>[2] = {},
): OrderCommand =>
  offer(n, 10_000_000n, { providerId: `${chain}/0x${n}:0`, seenAt: time.toISOString(), confirmations: 12, ...options });

const orphans = (...commands: OrderCommand[]) =>
  existing(after(...commands)).payments.map(({ status, orphanReason }) => orphanReason ?? status);

describe('money of the currency with other decimals than the order', () => {
  const inCaz = createOrder({ currency: 'CAZ', decimals: 18, totalMinor: 10n ** 19n });
  const other = offer(1, 10_000_000n, { currency: 'CAZ', decimals: 6 });

  test('is an orphan that shows its own amount, and is added up with nothing', () => {
    const order = existing(after(inCaz, other));
    expect(order.payments).toMatchObject([{ status: 'orphan', orphanReason: 'wrong_currency' }]);
    const { payments, ...view } = orderView(order);
    expect(payments).toMatchObject([{ paid_amount: '10.000000' }]);
    expect(view).toMatchObject({ status: 'awaiting_payment', remaining_amount: '10.000000000000000000' });
    expect(view.due_back_amount).toBeUndefined();
  });

  test('is not captured', () => {
    const held = createOrder({ ...inCaz, allow: { partial_payments: false } });
    expect(statuses(after(held, other, capture))).toEqual(['orphan']);
  });
});

describe('money from before the addresses of the order', () => {
  test.each([
    ['an EVM chain', ETHEREUM, 60],
    ['Bitcoin', BITCOIN, 2 * 3_600],
  ])('is an orphan on %s, beyond the margin for clocks', (_, chain, margin) => {
    given(...past(create()))
      .when(onChain(chain, { time: milliseconds(-margin * 1_000 - 1) }))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'before_order' } },
      );
    expect(after(create(), onChain(chain, { time: seconds(-margin) })).status).toBe('paid');
  });

  test.each([
    ['an open order', [create()], 'awaiting_payment'],
    ['an expired order', [create(), expireAt(dueAt)], 'expired'],
    ['a paid order', [create(), onChain(ETHEREUM, { n: 2 })], 'paid'],
    ['a canceled order', [create(), cancel], 'canceled'],
  ])('never counts for %s, and a capture leaves it', (_, commands: OrderCommand[], status) => {
    const offered = [...commands, onChain(ETHEREUM, { time: seconds(-3_600) })];
    expect(orphans(...offered).at(-1)).toBe('before_order');
    if (status === 'canceled') return;
    const captured = after(...offered, capture);
    expect([captured.status, statuses(captured).at(-1)]).toEqual([status, 'orphan']);
  });

  test('is not captured before it is confirmed', () => {
    const early = onChain(ETHEREUM, { time: seconds(-3_600), confirmed: false, confirmations: 1 });
    given(...past(create(), early))
      .when(capture)
      .thenNothing();
  });

  test('does not keep the order open at its deadline', () => {
    const early = onChain(ETHEREUM, { time: seconds(-3_600), confirmed: false, confirmations: 1 });
    given(...past(create(), early))
      .when(expireAt(dueAt))
      .thenLike({ type: 'OrderExpired' });
  });

  test('is judged by the first assignment, also after renewals', () => {
    const renewing = create({ allow: { expiration_auto_renewal: true } });
    const renewed: OrderCommand = { type: 'RenewOrder', rates: {}, pricedMinor: 10_000_000n, at: dueAt };
    const [at, time] = [minutesAfterNoon(61), minutesAfterNoon(1)];
    expect(after(renewing, renewed, onChain(ETHEREUM, { at, time })).status).toBe('paid');
  });

  test('is judged by the instructions that came after the order', () => {
    const instructed: OrderCommand = {
      type: 'InstructOrder',
      instructions: [deposit('ethereum')],
      at: minutesAfterNoon(10),
    };
    const slow = [create({ instructions: undefined }), instructed];
    const at = minutesAfterNoon(11);
    expect(orphans(...slow, onChain(ETHEREUM, { at, time: minutesAfterNoon(8) }))).toEqual(['before_order']);
    expect(orphans(...slow, onChain(ETHEREUM, { at, time: minutesAfterNoon(9) }))).toEqual(['applied']);
  });

  test('is told apart from newer money also when the clock of the order was advanced', () => {
    const advanced: OrderCommand = { type: 'AdvanceTime', minutes: 30, at: minutesAfterNoon(10) };
    const at = minutesAfterNoon(12);
    const reported = (time: Date) => [create(), advanced, onChain(ETHEREUM, { time, at })];
    expect(orphans(...reported(minutesAfterNoon(1)))).toEqual(['applied']);
    expect(orphans(...reported(minutesAfterNoon(11)))).toEqual(['applied']);
    expect(orphans(...reported(minutesAfterNoon(-2)))).toEqual(['before_order']);
    const pending = onChain(ETHEREUM, { time: NOON, confirmed: false });
    expect(orphans(create(), pending, advanced, onChain(ETHEREUM, { time: NOON, at }))).toEqual(['applied']);
  });

  test('is no question for money that no chain shows', () =>
    expect(after(create(), offer(1, 10_000_000n, { seenAt: minutesAfterNoon(-600).toISOString() })).status).toBe(
      'paid',
    ));
});

describe('money on a network that the order does not show', () => {
  test('is an orphan, and settles nothing', () => {
    given(...past(create()))
      .when(onChain(SEPOLIA))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'wrong_network' } },
      );
    expect(after(create(), onChain(SEPOLIA)).status).toBe('awaiting_payment');
  });

  test('does not keep the order open at its deadline', () =>
    given(...past(create(), onChain(SEPOLIA, { confirmed: false })))
      .when(expireAt(dueAt))
      .thenLike({ type: 'OrderExpired' }));

  test('applies when the merchant captures it', () =>
    expect(after(create(), onChain(SEPOLIA), capture).status).toBe('paid'));

  test('that a capture did not need keeps its reason, and settles nothing when the captured payment fails', () => {
    const seen = [ETHEREUM, SEPOLIA].map((chain, i) => onChain(chain, { n: i + 1, confirmed: false }));
    const captured = [create({ allow: { partial_payments: false } }), ...seen, capture];
    expect(orphans(...captured)).toEqual(['applied', 'wrong_network']);
    const failed = after(...captured, onChain(SEPOLIA, { n: 2 }), fail(1, 10_000_000n));
    expect([failed.status, statuses(failed)]).toEqual(['reversed', ['failed', 'orphan']]);
  });

  test('applies on each network of a payment page', () => {
    const { rail: _, currency: __, ...behindPage } = deposit('ethereum');
    const order = createOrder({ instructions: [{ ...instruction, deposits: [behindPage] }] });
    expect(orphans(order, onChain(ETHEREUM))).toEqual(['applied']);
    expect(orphans(order, onChain(SEPOLIA))).toEqual(['wrong_network']);
  });
});

describe('money of an outside provider', () => {
  const pageAt = (provider: string) => ({ ...instruction, provider });
  const reportedBy = (provider: string, options: Parameters<typeof offer>[2] = {}): OrderCommand =>
    offer(1, 10_000_000n, { providerId: `${provider}:p-1`, ...options });

  test('pays an order that shows the provider', () => {
    expect(orphans(create({ instructions: [pageAt('acme')] }), reportedBy('acme'))).toEqual(['applied']);
    expect(orphans(create({ instructions: [pageAt('other'), pageAt('acme')] }), reportedBy('acme'))).toEqual([
      'applied',
    ]);
  });

  test.each([
    ['of another provider', [pageAt('other')]],
    ['of the gateway itself', [pageAt('hosted')]],
    ['that is paid at an address', [deposit('ethereum')]],
  ])('is an orphan of an order %s, and settles nothing', (_, instructions) => {
    given(...past(create({ instructions })))
      .when(reportedBy('acme'))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'wrong_network' } },
      );
    const order = after(create({ instructions }), reportedBy('acme'));
    expect(order.status).toBe('awaiting_payment');
    expect(after(create({ instructions }), reportedBy('acme'), capture).status).toBe('paid');
  });

  test('waits for the instructions of a slow provider, and is an orphan unless they show it', () => {
    const instructed = (provider: string): OrderCommand => ({
      type: 'InstructOrder',
      instructions: [pageAt(provider)],
      at: minutesAfterNoon(1),
    });
    const slow = [create({ instructions: undefined }), reportedBy('acme')];
    expect(orphans(...slow)).toEqual(['received']);
    expect(orphans(...slow, instructed('acme'))).toEqual(['applied']);
    expect(after(...slow, instructed('acme')).status).toBe('paid');
    expect(orphans(...slow, instructed('other'))).toEqual(['wrong_network']);
    expect(after(...slow, instructed('other')).status).toBe('awaiting_payment');
  });

  test('becomes an orphan with its sighting when the instructions come, once it is confirmed', () => {
    const at = minutesAfterNoon(1);
    const instructed: OrderCommand = { type: 'InstructOrder', instructions: [pageAt('other')], at };
    const reported = (confirmed: boolean) =>
      past(create({ instructions: undefined }), reportedBy('acme', { sighting: 2, confirmed }));
    const id = paymentId(1);
    given(...reported(true))
      .when(instructed)
      .then(
        {
          type: 'OrderInstructed',
          data: {
            instructions: [pageAt('other')],
            status: 'awaiting_payment',
            reason: 'instructions_ready',
            at: at.toISOString(),
          },
        },
        {
          type: 'OrderPaymentsOrphaned',
          data: {
            paymentIds: [id],
            orphanReason: 'wrong_network',
            sightings: { [id]: 2 },
            at: at.toISOString(),
          },
        },
      );
    given(...reported(false))
      .when(instructed)
      .thenLike({ type: 'OrderInstructed' });
  });

  test('applies to a sandbox order where nobody reported it', () =>
    expect(orphans(createOrder(), offer(1, 10_000_000n, { providerId: 'debug_1' }))).toEqual(['applied']));
});
