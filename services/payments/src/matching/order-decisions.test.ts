import { setImmediate } from 'node:timers/promises';
import { AppError, type OrderMessage, type PaymentOutcome } from '@cpg/contracts';
import { ORDER_MESSAGE_TYPES, reactToOrders } from './order-decisions.ts';

const ORDER = 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D';
const [FIRST, SECOND] = ['pay_01KGA4T1C2E4G6J8M0P2R4T6V8', 'pay_01KGA4T1C2E4G6J8M0P2R4T6V9'];
const [AT, TIME] = ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:01.000Z'];

const messageOf = (type: string, change: object): OrderMessage =>
  ({ id: `evt_${type}`, type, time: TIME, correlationid: 'req_1', orderid: ORDER, data: { change } }) as never;

/** What payments does with these messages, in order. */
const react = async (messages: readonly OrderMessage[], record: () => Promise<void> = async () => {}) => {
  const done: unknown[] = [];
  await reactToOrders({
    commands: {
      recordOutcomes: async (...call: unknown[]) => {
        await record();
        done.push(call);
      },
    } as never,
    deletePayments: async (orderId) => void done.push(['delete', orderId]),
    recordOrderRefund: async (...call) => {
      await setImmediate();
      done.push(['refund', ...call]);
    },
  })(messages);
  return done;
};
const orphan = (payment_id: string, orphan_reason: string, sighting?: number) => ({
  status: 'orphan',
  payment_id,
  orphan_reason,
  sighting,
  at: AT,
});

test.each<[string, change: object, outcomes: object[]]>([
  [
    'order.payments_applied',
    {
      allocations: [
        { paymentId: FIRST, appliedMinor: '9', unappliedMinor: '1', smallestPayableMinor: '3' },
        { paymentId: SECOND, appliedMinor: '5', unappliedMinor: '0' },
      ],
      sightings: { [SECOND]: 2 },
      at: AT,
    },
    [
      {
        status: 'applied',
        payment_id: FIRST,
        applied_minor: '9',
        unapplied_minor: '1',
        smallest_payable_minor: '3',
        at: TIME,
      },
      { status: 'applied', payment_id: SECOND, applied_minor: '5', unapplied_minor: '0', sighting: 2, at: TIME },
    ],
  ],
  [
    'order.payments_orphaned',
    { paymentIds: [FIRST, SECOND], orphanReason: 'already_paid', sightings: { [FIRST]: 3 }, at: AT },
    [orphan(FIRST, 'already_paid', 3), orphan(SECOND, 'already_paid')],
  ],
  [
    'order.expired',
    {
      orphanedPaymentIds: [FIRST, SECOND],
      orphanReasons: { [FIRST]: 'insufficient' },
      sightings: { [SECOND]: 2 },
      at: AT,
    },
    [orphan(FIRST, 'insufficient'), orphan(SECOND, 'late', 2)],
  ],
  ['order.expired', { orphanedPaymentIds: [FIRST], at: AT }, [orphan(FIRST, 'late')]],
  ['order.canceled', { orphanedPaymentIds: [FIRST], at: AT }, [orphan(FIRST, 'canceled')]],
  ['order.paid', {}, []],
  ['order.gifted', {}, []],
])('%s is recorded by the payments that it decides on', async (type, change, outcomes) => {
  const context = { actor: 'service:payments', requestId: `evt_${type}`, correlationId: 'req_1' };
  expect(await react([messageOf(type, change)])).toEqual([
    [outcomes as PaymentOutcome[], context, { causationId: `evt_${type}` }],
  ]);
  expect(ORDER_MESSAGE_TYPES.includes(type)).toBe(outcomes.length > 0);
});

test('the payments of a deleted order are deleted', async () => {
  const messages = [messageOf('order.deleted', {}), messageOf('order.canceled', { orphanedPaymentIds: [], at: AT })];
  expect(await react(messages)).toMatchObject([
    [[], {}, {}],
    ['delete', ORDER],
    [[], {}, {}],
  ]);
  expect(ORDER_MESSAGE_TYPES).toContain('order.deleted');
});

test('the parts of a refund are recorded before the message is done, which is their cause', async () => {
  const parts = [{ refundId: 'rfd_1', paymentId: FIRST, amountMinor: '7' }];
  const refunded = messageOf('order.refunded', { orderRefundId: 'orf_1', amountMinor: '7', parts, at: AT });
  const caused = [
    { actor: 'service:payments', requestId: refunded.id, correlationId: 'req_1' },
    { causationId: refunded.id },
  ];
  const call = {
    order_refund_id: 'orf_1',
    reason: undefined,
    parts: [{ refund_id: 'rfd_1', payment_id: FIRST, amount_minor: '7' }],
  };
  expect(await react([refunded])).toEqual([
    [[], ...caused],
    ['refund', call, ...caused],
  ]);
  expect(ORDER_MESSAGE_TYPES).toContain('order.refunded');
});

test('a message is not done before its outcomes are recorded', () =>
  expect(
    react([messageOf('order.deleted', {})], () => Promise.reject(new AppError('dependency_unavailable', 'later'))),
  ).rejects.toMatchObject({ code: 'dependency_unavailable' }));
