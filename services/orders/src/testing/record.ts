import { writeFileSync } from 'node:fs';
import { deletionStreamOf, NewOrderEvent, type Order, orderStreamOf } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { type RecordedStream, recordedStream } from '@cpg/event-sourcing/testing/recorded-streams';
import { deletionRecord } from '../commands/deletion.ts';
import type { CommandOf, OrderCommand } from '../order/command.ts';
import { orderDecider } from '../order/order.ts';
import { type ExistingOrder, exists, type Order as State } from '../order/state.ts';
import { orderView } from '../order/view.ts';
import { createOrder, deposit, instruction, minutesAfterNoon, offer, payment, paymentId } from './orders.ts';

/** The stream of an order, or of its deletion, which has no resource. */
export type RecordedOrder = RecordedStream<Order | null>;

const block = { height: 7, hash: '00f7' };
const refund = (n: number, refundedTotalMinor: bigint, at: Date): CommandOf<'RefundPayment'> => ({
  type: 'RefundPayment',
  paymentId: paymentId(n),
  refundId: `rfd_${'0'.repeat(25)}${n}`,
  refundedTotalMinor,
  refundedAt: at,
  at: new Date(at.getTime() + 1_000),
});
const fail = (n: number, amountMinor: bigint, at: Date): OrderCommand => ({
  type: 'FailPayment',
  payment: payment(n, amountMinor),
  failureReason: 'reorg',
  failedAt: at,
  at: new Date(at.getTime() + 1_000),
});
const renewAt = (minutes: number): OrderCommand => ({
  type: 'RenewOrder',
  rates: {
    USDC: {
      rate: '1',
      source: 'identity',
      quoted_at: minutesAfterNoon(minutes).toISOString(),
      expires_at: minutesAfterNoon(minutes + 30).toISOString(),
    },
  },
  pricedMinor: 12_000_000n,
  ratesExpireAt: minutesAfterNoon(minutes + 30).toISOString(),
  at: minutesAfterNoon(minutes),
});

/** Orders that together record every event. */
const ORDERS: OrderCommand[][] = [
  [
    createOrder({
      items: [
        {
          name: 'tea',
          quantity: 1,
          unit_price: '8',
          currency: 'USDC',
          modifiers: [{ name: 'milk', quantity: 2, unit_price: '1', currency: 'USDC' }],
        },
      ],
      allow: { expiration_auto_renewal: true },
      toleranceBps: 50,
      ratesExpireAt: minutesAfterNoon(30).toISOString(),
      metadata: { table: 'B7' },
      returnUrl: 'https://shop.example/thanks',
      cancelUrl: 'https://shop.example/cart',
    }),
    { type: 'UpdateOrder', metadata: { table: 'B8' }, rateLockMaxMinutes: 1_440, at: minutesAfterNoon(1) },
    { type: 'UpdateOrder', expirationMinutes: 90, rateLockMaxMinutes: 30, at: minutesAfterNoon(2) },
    offer(1, 4_000_000n, { at: minutesAfterNoon(3), metadata: { till: 2 } }),
    { type: 'AdvanceTime', minutes: 10, at: minutesAfterNoon(4) },
    renewAt(90),
    refund(1, 1_000_000n, minutesAfterNoon(91)),
    offer(2, 9_000_000n, { at: minutesAfterNoon(92) }),
    { ...refund(2, 9_000_000n, minutesAfterNoon(93)), appliedAt: minutesAfterNoon(92) },
  ],
  [
    createOrder({ instructions: undefined }),
    { type: 'InstructOrder', instructions: [instruction], at: minutesAfterNoon(1) },
    offer(3, 10_000_000n, { confirmed: false, at: minutesAfterNoon(2) }),
    { type: 'CancelOrder', at: minutesAfterNoon(3) },
    offer(4, 1_000_000n, { at: minutesAfterNoon(4) }),
  ],
  [
    createOrder({ allow: { partial_payments: false } }),
    offer(5, 4_000_000n, { at: minutesAfterNoon(1) }),
    offer(6, 3_000_000n, { at: minutesAfterNoon(61) }),
    { type: 'ExpireOrder', at: minutesAfterNoon(61) },
    { type: 'CapturePayments', at: minutesAfterNoon(62) },
    { type: 'AcceptOrder', because: 'close enough', at: minutesAfterNoon(63) },
  ],
  [
    createOrder({
      rails: ['crypto_deposit', 'gateway_pay'],
      instructions: [
        deposit('ethereum'),
        { ...instruction, qrContent: 'pay:REF', deposits: [withoutRail(deposit('polygon'))] },
      ],
    }),
    onChain({ confirmed: false, confirmations: 0 }),
    onChain({ confirmed: false, confirmations: 1, block, blockChanges: 1, blockChangedAt: after(2) }),
    onChain({ confirmations: 12, block, blockChanges: 1, blockChangedAt: after(2), confirmedAt: after(5) }),
    {
      type: 'FailPayment',
      payment: seenOnChain({ block, blockChanges: 1 }),
      failureReason: 'reorg',
      failedAt: minutesAfterNoon(6),
      at: minutesAfterNoon(7),
    },
    onChain({ confirmations: 12, block, blockChanges: 2, sighting: 2, reinstatedAt: after(8), confirmedAt: after(9) }),
  ],
  [createOrder(), fail(8, 10_000_000n, minutesAfterNoon(1)), { type: 'DeleteOrder', at: minutesAfterNoon(2) }],
  [
    createOrder(),
    offer(9, 10_000_000n, { at: minutesAfterNoon(1) }),
    {
      type: 'RefundOrder',
      orderRefundId: `orf_${'0'.repeat(25)}1`,
      amount: '4',
      reason: 'one dish was not served',
      refundable: [{ payment_id: paymentId(9), left_minor: '10000000', recorded_parts: [] }],
      at: minutesAfterNoon(2),
    },
    { ...refund(9, 4_000_000n, minutesAfterNoon(3)), orderRefundedTotalMinor: 4_000_000n },
  ],
];

function withoutRail({ rail: _, currency: __, ...rest }: ReturnType<typeof deposit>) {
  return rest;
}

function after(minutes: number): string {
  return minutesAfterNoon(minutes).toISOString();
}

function seenOnChain(changes: Partial<ReturnType<typeof payment>>) {
  const asset = { rail: 'crypto_deposit' as const, asset: deposit('ethereum').asset, assetLabel: 'USDC.e' };
  return payment(7, 10_000_000n, { ...asset, txHash: '0x07', ...changes });
}

function onChain({ confirmed = true, ...changes }: { confirmed?: boolean } & Parameters<typeof seenOnChain>[0]) {
  return { type: 'OfferPayment' as const, payment: seenOnChain(changes), confirmed, at: minutesAfterNoon(10) };
}

/** The streams that this version records of some orders. They are the same in every run. */
export const recordStreams = (): RecordedOrder[] => ORDERS.flatMap((commands, n) => streamsOf(n + 1, commands));

const streamsOf = (n: number, commands: readonly OrderCommand[]): RecordedOrder[] => {
  const orderId = `ord_${String(n).padStart(26, '0')}`;
  let state: State = orderDecider.initial;
  const events = commands.flatMap((command) => {
    const decided = orderDecider
      .decide(command.type === 'CreateOrder' ? { ...command, orderId } : command, state)
      .map((event) => NewOrderEvent.parse(event));
    state = fold(orderDecider, state, decided);
    return decided;
  });
  const order = existingOf(state);
  const recorded = recordedStream<Order | null>(orderStreamOf(orderId), orderView(order), events);
  if (state === order) return [recorded];
  const last = recorded.events.at(-1)!;
  const record = deletionRecord(order, {
    actor: 'key:1',
    lastHash: last.metadata.hash,
    sequence: last.revision,
    paymentIds: order.payments.map(({ paymentId }) => paymentId),
    at: last.data.at,
  });
  return [recorded, recordedStream(deletionStreamOf(orderId), null, [record])];
};

const existingOf = (state: State): ExistingOrder => {
  if (exists(state)) return state;
  if (state.status === 'deleted') return state.lastState;
  throw new Error('the commands created no order');
};

if (process.argv[1] === import.meta.filename) {
  const [version] = process.argv.slice(2);
  if (version === undefined) throw new Error('Name the version: pnpm --filter @cpg/orders record 0.2.0');
  writeFileSync(`src/testing/recorded/${version}.json`, `${JSON.stringify(recordStreams(), null, 2)}\n`);
}
