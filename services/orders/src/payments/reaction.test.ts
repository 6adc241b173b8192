import { AppError, type PaymentMessage, paymentView } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { MERCHANT_ID, NOON, paymentId } from '../testing/orders.ts';
import { reactToPayments } from './reaction.ts';

const at = NOON.toISOString();

const received = (orderId: string): PaymentMessage => {
  const resource = paymentView({
    paymentId: paymentId(1),
    merchantId: MERCHANT_ID,
    orderId,
    rail: 'gateway_pay',
    providerId: 'acme:1',
    currency: 'USDC',
    amountMinor: 1n,
    feeMinor: 0n,
    appliedMinor: 0n,
    unappliedMinor: 0n,
    refundedMinor: 0n,
    status: 'received',
    seenAt: at,
    createdAt: at,
    updatedAt: at,
  });
  const envelope = { id: newId('event'), subject: resource.id, orderid: orderId, time: at, correlationid: 'req_1' };
  const change = { seenAt: at, confirmed: true };
  return { ...envelope, type: 'payment.received', data: { change, resource } } as unknown as PaymentMessage;
};

/** Runs the reaction, with commands that fail like an event store that refuses the name of a stream. */
const react = async (message: PaymentMessage) => {
  const [asked, recorded]: [string[], unknown[]] = [[], []];
  await reactToPayments({
    commands: {
      run: async (orderId: string) => {
        asked.push(orderId);
        throw new AppError('dependency_unavailable', 'the event store is unavailable: try again');
      },
    } as never,
    payments: { recordOutcomes: async (outcomes: unknown[]) => void recorded.push(...outcomes) } as never,
    now: () => NOON,
  })([message]);
  return { asked, recorded };
};

test.each([
  ['a deposit address', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  ['what a provider wrote', 'ord_1'],
  ['nothing', ''],
  ['a name that no stream can have', '\0'],
  ['a name that is too long for a stream', 'x'.repeat(3_000)],
])('a payment that names %s instead of an order is an orphan, and stops no partition', async (_, orderId) => {
  expect(await react(received(orderId))).toEqual({
    asked: [],
    recorded: [{ status: 'orphan', payment_id: paymentId(1), orphan_reason: 'unknown_order', at }],
  });
});

test('an order is asked for, and waited for', async () => {
  await expect(react(received(newId('order')))).rejects.toMatchObject({ code: 'dependency_unavailable' });
});
