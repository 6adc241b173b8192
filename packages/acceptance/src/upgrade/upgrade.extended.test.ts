import { type DepositInstruction, fromMinor, type Order, type OrderStatus, toMinor } from '@cpg/contracts';
import { type Api, createApi } from '../harness/api.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { serviceAdmin } from '../harness/service-admin.ts';
import { verifyDelivery } from '../harness/signatures.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { type Activity, type HistoryLink, payment, writeActivity } from './activity.ts';
import { buildEarlierVersion, type EarlierVersion, hasCommit } from './earlier-version.ts';

/** The last commit before events had recorded schemas of their own. */
const EARLIER = 'a7c36b4';
const SLOW = 600_000;
const RECOVERS_WITHIN_MS = 60_000;
const HOOK = '/hook';

const isThere = await hasCommit(EARLIER);
if (!isThere) console.warn(`skipped: this checkout does not have commit ${EARLIER}; a full clone has it`);
const onEarlierData = isThere ? test : test.skip;

let earlier: EarlierVersion;
let stack: Stack;
let receiver: Receiver;
/** Of the demo merchant: the earlier version made its key. */
let api: Api;
let before: Activity;

beforeAll(async () => {
  if (!isThere) return;
  earlier = await buildEarlierVersion(EARLIER);
  receiver = await startReceiver();
  const old = await startStack({ launcher: earlier.launcher, env: { WEBHOOK_RETRY_SECONDS: '1,1,1,2,2,5,5' } });
  api = createApi(old);
  before = await writeActivity(old, api, receiver.urlOf(HOOK));
  await old.interrupt();
  stack = await old.startThisVersion();
}, SLOW);

afterAll(async () => {
  await api?.close();
  await receiver?.close();
  await stack?.stop();
  earlier?.remove();
}, SLOW);

/** What identifies the events of a history. The earlier version showed their data in the recorded form. */
const linksOf = (history: readonly HistoryLink[]) =>
  history.map(({ id, stream, sequence, hash }) => ({ id, stream, sequence, hash }));

/** Earlier versions left out amounts that are zero, showed payment URIs of orders that take no more payments, asked for
 *  money that was held, and did not show what is to be given back. */
const asShownNow = (order: Order): Order => ({
  ...order,
  ...dueBackOf(order),
  ...(order.payments.some(({ status }) => status === 'received') && {
    deposit_instructions: order.deposit_instructions.map((instruction) => askingFor(missingOf(order), instruction)),
  }),
  payments: order.payments.map((payment) => {
    const zero = fromMinor(0n, payment.currency);
    return { applied_amount: zero, unapplied_amount: zero, refunded_amount: zero, ...payment };
  }),
  ...(CLOSED.has(order.status) && {
    deposit_instructions: order.deposit_instructions.map((instruction) => {
      const { payment_uri: _, qr_content: __, ...rest } = { payment_uri: '', qr_content: '', ...instruction };
      return rest;
    }),
  }),
});

const dueBackOf = ({ payments, currency }: Order): Pick<Order, 'due_back_amount'> => {
  const minor = (amount = '0') => toMinor(amount, currency);
  const dueMinor = payments
    .filter((payment) => payment.currency === currency)
    .map(({ status, paid_amount, unapplied_amount, refunded_amount }) =>
      status === 'orphan' ? minor(paid_amount) - minor(refunded_amount) : minor(unapplied_amount),
    )
    .reduce((sum, each) => sum + each, 0n);
  return dueMinor > 0n ? { due_back_amount: fromMinor(dueMinor, currency) } : {};
};

const askingFor = (amount: string, instruction: DepositInstruction): DepositInstruction => {
  if (instruction.rail === 'gateway_pay') return { ...instruction, amount };
  const { payment_uri: _, ...rest } = instruction;
  const uri = /[1-9]/.test(amount) && { payment_uri: expect.any(String) as never };
  return { ...rest, amount, amount_units: expect.any(String) as never, ...uri };
};

const missingOf = ({ payments, remaining_amount, currency }: Order): string => {
  const pending = payments.filter(({ status }) => status === 'received');
  return fromMinor(
    pending.reduce(
      (left, { paid_amount }) => left - toMinor(paid_amount, currency),
      toMinor(remaining_amount, currency),
    ),
    currency,
  );
};

const CLOSED = new Set<OrderStatus>(['paid', 'canceled', 'expired', 'partially_paid_expired']);

onEarlierData('rebuilds the read models of the earlier version by itself', async () => {
  const stillAsBefore = async () => {
    const orders = await Promise.all(before.orders.map(({ id }) => api.order(id)));
    const payments = orders.flatMap((order) => order.payments);
    const alone = await Promise.all(payments.map(({ id }) => api.payment(id)));
    return [...payments, ...alone].some(({ refunded_amount }) => refunded_amount === undefined);
  };
  await until('the read models are rebuilt', async () => !(await stillAsBefore()), { withinMs: RECOVERS_WITHIN_MS });
});

onEarlierData('reads the same: orders, payments, lists and histories', async () => {
  for (const order of before.orders.map(asShownNow)) {
    expect(await api.order(order.id)).toEqual(order);
    for (const payment of order.payments) expect(await api.payment(payment.id)).toEqual(payment);
    expect((await api.orders({ external_reference_id: order.external_reference_id })).items).toEqual([order]);
  }
  for (const [id, history] of before.histories)
    expect(linksOf((await api.history(id)).items)).toEqual(linksOf(history));
  expect((await api.send('GET', `/v1/orders/${before.deletedId}`)).status).toBe(404);
});

onEarlierData(
  'applies and announces a confirmed payment that its order does not know to be confirmed',
  async () => {
    await until('the order is paid', async () => (await api.order(before.interruptedId)).status === 'paid', {
      withinMs: RECOVERS_WITHIN_MS,
    });
    await announced('order:paid', before.interruptedId);
  },
  SLOW,
);

onEarlierData(
  'announces events that were never delivered',
  () => announced('order:created', before.unannouncedId),
  SLOW,
);

onEarlierData('takes the rest of an order that was paid in part, and of one whose payment is held', async () => {
  for (const id of [before.partlyPaidId, before.heldId]) {
    expect((await api.pay(payment(id, '6'))).status).toBe('paid');
    await announced('order:paid', id);
  }
});

onEarlierData('confirms a payment that was pending', async () => {
  const [pending] = (await api.order(before.pendingId)).payments;
  const answer = await api.send('POST', `/debug/payments/${pending!.id}/confirm`);
  expect([answer.status, (await api.order(before.pendingId)).status]).toEqual([201, 'paid']);
});

onEarlierData('answers a repeated request with the stored answer', async () => {
  const answer = await api.send('POST', '/v1/orders', before.repeatable);
  expect([answer.status, answer.headers['idempotency-replayed'], answer.body.id]).toEqual([
    201,
    'true',
    before.repeatableId,
  ]);
});

onEarlierData(
  'passes audit verify, projections verify and projections rebuild',
  async () => {
    for (const command of ['audit verify', 'projections verify', 'projections rebuild', 'projections verify'])
      for (const service of ['orders', 'payments'] as const)
        expect([command, await serviceAdmin(stack, service, command).outcome()]).toEqual([
          command,
          { code: 0, output: expect.any(String) },
        ]);
  },
  SLOW,
);

/** Waits until the webhook got an event of an order, signed with the secret of the earlier version. */
const announced = async (event: string, orderId: string) =>
  until(
    `${event} of ${orderId}`,
    () =>
      receiver
        .attemptsOn(HOOK)
        .map((attempt) => verifyDelivery(attempt, before.webhook.secret))
        .some((payload) => payload.event === event && payload.data.id === orderId),
    { withinMs: RECOVERS_WITHIN_MS },
  );
