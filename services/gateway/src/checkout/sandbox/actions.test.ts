import { AppError, exampleOf, Order, Payment } from '@cpg/contracts';
import { ADVANCE_MINUTES, possibleActions, runSandboxAction, type SandboxAction } from './actions.ts';

const NOW = new Date('2026-01-31T12:15:30.000Z');
const context = { actor: 'debug', requestId: 'req_1', correlationId: 'req_1' };
const received: Payment = { ...exampleOf(Payment), status: 'received' };
const order = (changes: Partial<Order> = {}): Order => ({ ...exampleOf(Order), ...changes });

/** Runs an action and returns the calls that it made. */
const callsOf = async (action: SandboxAction, of: Order, refusal?: AppError) => {
  const calls: unknown[][] = [];
  const record =
    (name: string) =>
    async (...args: unknown[]): Promise<never> => {
      calls.push([name, ...args.slice(0, -1)]);
      if (refusal) throw refusal;
      return undefined as never;
    };
  const payments = { register: record('register'), confirm: record('confirm'), fail: record('fail') };
  await runSandboxAction(action, of, context, { orders: { advanceTime: record('advance') }, payments, now: () => NOW });
  return calls;
};

const payment = (amount: string, confirmed: boolean) => ({
  order_id: exampleOf(Order).id,
  rail: 'crypto_deposit',
  provider_id: expect.stringMatching(/^debug_[\da-f]{32}$/),
  amount,
  currency: 'USDC',
  confirmed,
});

test.each<[SandboxAction, string]>([
  ['pay-all', '52.472200'],
  ['pay-part', '26.236100'],
  ['pay-more', '57.719420'],
])('%s is seen and not confirmed yet', async (action, amount) =>
  expect(await callsOf(action, order())).toEqual([['register', payment(amount, false)]]),
);

test('the smallest amount can be paid in part and too much', async () => {
  const tiny = order({ remaining_amount: '0.000001' });
  expect(await callsOf('pay-part', tiny)).toEqual([['register', payment('0.000001', false)]]);
  expect(await callsOf('pay-more', tiny)).toEqual([['register', payment('0.000002', false)]]);
});

test('late money arrives after the deadline', async () =>
  expect(await callsOf('pay-late', order())).toEqual([
    ['advance', exampleOf(Order).id, { minutes: 45 }],
    ['register', payment('52.472200', true)],
  ]));

test.each(['expired', 'partially_paid_expired'] as const)(
  'late money needs no clock once an order is %s',
  async (status) =>
    expect(await callsOf('pay-late', order({ status }))).toEqual([['register', payment('52.472200', true)]]),
);

test('the clock moves by some minutes, or to the deadline', async () => {
  expect(await callsOf('advance', order())).toEqual([['advance', exampleOf(Order).id, { minutes: ADVANCE_MINUTES }]]);
  expect(await callsOf('expire', order())).toEqual([['advance', exampleOf(Order).id, { minutes: 45 }]]);
  const past = order({ expiration_date: '2026-01-31T12:00:00.000Z' });
  expect(await callsOf('expire', past)).toEqual([['advance', exampleOf(Order).id, { minutes: 1 }]]);
});

test('every payment that was seen is confirmed; the newest one fails', async () => {
  const two = order({ payments: [received, { ...received, id: 'pay_2' }, { ...received, status: 'failed' }] });
  expect(await callsOf('confirm', two)).toEqual([
    ['confirm', received.id, {}],
    ['confirm', 'pay_2', {}],
  ]);
  expect(await callsOf('fail', two)).toEqual([['fail', 'pay_2', {}]]);
});

test.each<[Partial<Order>, SandboxAction[]]>([
  [{}, ['pay-all', 'pay-part', 'pay-more', 'pay-late', 'advance', 'expire']],
  [{ payments: [received] }, ['pay-all', 'pay-part', 'pay-more', 'pay-late', 'confirm', 'fail', 'advance', 'expire']],
  [{ status: 'initialized' }, []],
  [{ status: 'paid', payments: [exampleOf(Payment)] }, ['fail']],
  [{ status: 'reversed', payments: [{ ...received, status: 'failed' }] }, ['pay-all', 'pay-part', 'pay-more']],
  [{ status: 'expired' }, ['pay-late']],
  [{ status: 'partially_paid_expired', payments: [exampleOf(Payment)] }, ['pay-late', 'fail']],
  [{ status: 'canceled' }, []],
  [{ status: 'canceled', payments: [received] }, ['confirm', 'fail']],
])('an order with %j allows %j', async (changes, actions) => {
  expect(possibleActions(order(changes))).toEqual(actions);
});

test('what the order does not allow changes nothing', async () => {
  expect(await callsOf('pay-all', order({ status: 'expired' }))).toEqual([]);
  const conflict = new AppError('order_state_conflict', 'the order was paid meanwhile');
  await expect(callsOf('advance', order(), conflict)).resolves.toHaveLength(1);
  const outage = new AppError('dependency_unavailable', 'orders is unavailable');
  await expect(callsOf('advance', order(), outage)).rejects.toBe(outage);
});
