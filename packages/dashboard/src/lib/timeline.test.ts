import { actorOf, addressesOf, type Entry, instantsOf, timeline } from './timeline.ts';

const entry = (type: string, data: object, second = 0): Entry => ({
  id: `evt_${type}`,
  stream: type.startsWith('Payment') ? 'payment-pay_1' : 'order-ord_1',
  type,
  at: `2026-01-31T12:00:0${second}.000Z`,
  recorded_at: `2026-01-31T12:00:0${second}.000Z`,
  actor: 'service:payments',
  data,
});

const created = entry('OrderCreated', {
  currency: 'USDC',
  total_amount: '10.00',
  expiration_date: '2026-01-31T13:00:00.000Z',
  deposit_instructions: [
    { rail: 'crypto_deposit', network: 'base', address: '0xA' },
    { rail: 'gateway_pay', payment_reference: 'R' },
  ],
});
const received = entry(
  'OrderPaymentReceived',
  { payment: { id: 'pay_1', paid_amount: '12.00', currency: 'USDC' }, confirmed: false },
  1,
);
const confirmed = entry('OrderPaymentConfirmed', { payment_id: 'pay_1', confirmations: 3 }, 2);
const applied = entry(
  'OrderPaymentsApplied',
  { allocations: [{ payment_id: 'pay_1', applied_amount: '10.00', unapplied_amount: '2.00' }], status: 'paid' },
  2,
);
const told = entry('PaymentReceived', { payment_id: 'pay_1', paid_amount: '12.00', currency: 'USDC' }, 1);
const requested = entry('PaymentRefundRequested', { refund_id: 'rfd_1', network: 'base', amount: '2.00' }, 3);

test('each moment has the facts for its sentence', () => {
  const [first, second, third, fourth] = timeline([created, received, confirmed, applied], { brief: true });
  expect(first!.facts).toMatchObject({ amount: '10.00', currency: 'USDC', until: '2026-01-31T13:00:00.000Z' });
  expect(second!.facts).toMatchObject({ amount: '12.00', currency: 'USDC', isConfirmed: false });
  expect(third!.facts).toMatchObject({ amount: '12.00', confirmations: 3 });
  expect(fourth!.facts).toMatchObject({ amount: '10.00', surplus: '2.00', currency: 'USDC' });
});

test('is brief about what the order says too', () => {
  const types = (brief: boolean) => timeline([created, told, received, requested], { brief }).map(({ type }) => type);
  expect(types(true)).toEqual(['OrderCreated', 'OrderPaymentReceived', 'PaymentRefundRequested']);
  expect(types(false)).toHaveLength(4);
});

test('tells of a payment alone if the order does not', () => expect(timeline([told], { brief: true })).toHaveLength(1));

test('an entry of a later version is there without facts', () =>
  expect(timeline([entry('OrderPainted', { color: { red: 1 } })], { brief: true })[0]!.type).toBe('OrderPainted'));

test('an order can be shown as of each instant once', () =>
  expect(instantsOf([confirmed, created, applied])).toEqual(['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:02.000Z']));

test('knows every address that was shown', () => {
  const again = entry(
    'OrderInstructed',
    {
      deposit_instructions: [
        { network: 'base', address: '0xA' },
        { network: 'ethereum', address: '0xB' },
      ],
    },
    4,
  );
  expect(addressesOf([created, again]).map(({ network, address }) => `${network} ${address}`)).toEqual([
    'base 0xA',
    'ethereum 0xB',
  ]);
});

test.each([
  ['key:Ab3dEf6hIj9k', { kind: 'key', name: 'Ab3dEf6hIj9k' }],
  ['debug', { kind: 'debug', name: '' }],
  ['user:usr_1', { kind: 'user', name: 'usr_1' }],
])('the actor %s', (actor, parts) => expect(actorOf(actor)).toEqual(parts));

test('who paid money back did it, and not the service that told the order', () => {
  const refund = { payment_id: 'pay_1', refunded_amount: '1.00' };
  const byUser = { ...entry('PaymentRefunded', refund, 3), actor: 'user:usr_1' };
  const byKey = { ...entry('PaymentRefunded', refund, 5), actor: 'key:k' };
  const toldOf = (second: number) => entry('OrderPaymentRefunded', refund, second);
  const history = [created, received, byUser, toldOf(4), byKey, toldOf(5)];
  expect(timeline(history, { brief: true }).map(({ actor }) => actor)).toEqual([
    'service:payments',
    'service:payments',
    'user:usr_1',
    'key:k',
  ]);
});
