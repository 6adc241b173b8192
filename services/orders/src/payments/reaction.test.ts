import { AppError, type PaymentMessage, paymentView } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { MERCHANT_ID, NOON, paymentId } from '../testing/orders.ts';
import { HANDLED_PAYMENT_MESSAGES, reactToPayments } from './reaction.ts';

const at = NOON.toISOString();

const received = (orderId: string): PaymentMessage => {
  const resource = paymentView({
    paymentId: paymentId(1),
    merchantId: MERCHANT_ID,
    orderId,
    rail: 'gateway_pay',
    providerId: 'acme:1',
    currency: 'USDC',
    decimals: 6,
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

const ORDER = 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D';
const [SEEN, CHANGED] = ['2026-01-31T11:59:00.000Z', '2026-01-31T12:01:00.000Z'];

/** A message of the type, about a payment that was applied when it was seen, and changed last at CHANGED. */
const messageOf = (type: string, change: object): PaymentMessage => {
  const { data, ...message } = received(ORDER);
  const resource = { ...(data.resource as object), applied_at: SEEN, updated_at: CHANGED };
  return { ...message, type, time: CHANGED, data: { change, resource } } as unknown as PaymentMessage;
};

/** The commands that messages lead to, and the outcomes where orders does not know the order. */
const commandsOf = async (messages: PaymentMessage[], fault?: AppError) => {
  const commands: unknown[][] = [];
  const outcomes: unknown[] = [];
  await reactToPayments({
    commands: {
      run: async (...call: unknown[]) => {
        commands.push(call);
        if (fault) throw fault;
      },
    } as never,
    payments: { recordOutcomes: async (recorded: unknown[]) => void outcomes.push(...recorded) } as never,
    now: () => NOON,
  })(messages);
  return { commands, outcomes };
};

const facts = { seenAt: SEEN, sighting: 2, blockChanges: 1 };
const offered = { paymentId: paymentId(1), amountMinor: '1', seenAt: SEEN };
const again = { ...offered, sighting: 2, reinstatedAt: CHANGED, blockChanges: 1, blockChangedAt: CHANGED };

test.each<[string, change: object, command: object]>([
  [
    'payment.received',
    { seenAt: SEEN, confirmed: false },
    { type: 'OfferPayment', payment: { ...offered, confirmedAt: undefined }, confirmed: false },
  ],
  [
    'payment.received',
    { seenAt: SEEN, confirmed: true },
    { type: 'OfferPayment', payment: { ...offered, confirmedAt: CHANGED }, confirmed: true },
  ],
  ['payment.confirmed', facts, { type: 'OfferPayment', payment: { ...again, confirmedAt: CHANGED }, confirmed: true }],
  [
    'payment.block_changed',
    { ...facts, unconfirmed: true },
    { type: 'OfferPayment', payment: again, confirmed: false, unconfirmed: true },
  ],
  [
    'payment.reinstated',
    { ...facts, confirmed: false },
    { type: 'OfferPayment', payment: { ...again, confirmedAt: undefined }, confirmed: false },
  ],
  [
    'payment.reinstated',
    { ...facts, confirmed: true },
    { type: 'OfferPayment', payment: { ...again, confirmedAt: CHANGED }, confirmed: true },
  ],
  [
    'payment.failed',
    { ...facts, failureReason: 'reorg' },
    { type: 'FailPayment', payment: again, failureReason: 'reorg', failedAt: new Date(CHANGED) },
  ],
  [
    'payment.refunded',
    { refundId: 'rfd_1', refundedTotalMinor: '7' },
    {
      type: 'RefundPayment',
      paymentId: paymentId(1),
      refundId: 'rfd_1',
      refundedTotalMinor: 7n,
      appliedAt: new Date(SEEN),
      refundedAt: new Date(CHANGED),
    },
  ],
  [
    'payment.assigned',
    { ...facts, orderId: ORDER, confirmedAt: SEEN },
    { type: 'OfferPayment', payment: { ...again, confirmedAt: SEEN }, confirmed: true },
  ],
])('%s becomes a command of its order: %j', async (type, change, command) => {
  const message = messageOf(type, change);
  const { commands } = await commandsOf([message]);
  const context = { actor: 'service:orders', requestId: message.id, correlationId: message.correlationid };
  expect(commands).toMatchObject([[ORDER, { ...command, at: NOON }, context, { causationId: message.id }]]);
});

test.each<[string, object]>([
  ['payment.applied', {}],
  ['payment.orphaned', {}],
  ['payment.assigned', facts],
  ['payment.gifted', {}],
])('%s tells an order nothing new: %j', async (type, change) => {
  expect(await commandsOf([messageOf(type, change)])).toEqual({ commands: [], outcomes: [] });
  expect(HANDLED_PAYMENT_MESSAGES.includes(type)).toBe(type === 'payment.assigned');
});

test('every message is handled, in order', async () => {
  const messages = [1, 2].map((n) => messageOf('payment.refunded', { refundId: `rfd_${n}`, refundedTotalMinor: '7' }));
  const { commands } = await commandsOf(messages);
  expect(commands.map(([, command]) => command)).toMatchObject([{ refundId: 'rfd_1' }, { refundId: 'rfd_2' }]);
});

test('only a confirmed payment of an unknown order becomes an orphan, with its sighting', async () => {
  const gone = new AppError('not_found', 'there is no such order');
  const orphansOf = async (type: string, change: object) =>
    (await commandsOf([messageOf(type, change)], gone)).outcomes;
  expect(await orphansOf('payment.confirmed', facts)).toEqual([
    { status: 'orphan', payment_id: paymentId(1), orphan_reason: 'unknown_order', sighting: 2, at: CHANGED },
  ]);
  expect(await orphansOf('payment.received', { seenAt: SEEN, confirmed: false })).toEqual([]);
  expect(await orphansOf('payment.failed', { ...facts, failureReason: 'reorg' })).toEqual([]);
});

test('a message is not done before payments recorded the orphan', () =>
  expect(
    reactToPayments({
      commands: {} as never,
      payments: { recordOutcomes: () => Promise.reject(new AppError('dependency_unavailable', 'later')) } as never,
      now: () => NOON,
    })([received('nobody')]),
  ).rejects.toMatchObject({ code: 'dependency_unavailable' }));
