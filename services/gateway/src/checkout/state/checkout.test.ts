import { Checkout, type CheckoutState, exampleOf, Order, type Payment, Refund } from '@cpg/contracts';
import { checkoutOf } from './checkout.ts';
import {
  ADDRESS,
  deposit,
  type Given,
  NOW,
  payment,
  REFERENCE,
  shownOrder,
  TOO_LATE,
  USDC,
} from '../testing/jest-checkouts.ts';

const of = (given: Given = {}, now = NOW) => checkoutOf(shownOrder(given), now);

const part = { paid_amount: '20.000000' };
const applied = payment({ status: 'applied' });
const OTHER_NETWORK = { provider_id: 'eip155:1/0xabc:0' };
const [REST, ALL, NONE] = ['32.472200', '52.472200', '0.000000'];

test('names the token to send, and those that do not pay', () => {
  const [way] = of({ deposits: [deposit({ asset_label: 'USDT0', not_tokens: ['USDC.e'] })] }).ways;
  expect(way).toMatchObject({ asset_label: 'USDT0', not_tokens: ['USDC.e'] });
  expect(Checkout.parse(of({ deposits: [deposit({ not_tokens: ['USDC.e'] })] }))).toBeDefined();
});

test('shows amounts with the decimals that the order has, whatever the configuration is', () => {
  const order: Given = {
    currency: 'CAZ',
    total_amount: '10.00',
    remaining_amount: '6.00',
    deposits: [deposit({ decimals: 18 })],
  };
  const amounts = { applied_amount: '4.00', unapplied_amount: '0.00', refunded_amount: '0.00' };
  const paid = payment({
    currency: 'CAZ',
    ...amounts,
    paid_amount: '4.00',
    fee_amount: '0.04',
    net_amount: '3.96',
    status: 'applied',
  });
  expect(of({ ...order, payments: [paid] })).toMatchObject({
    total: '10.00',
    applied: '4.00',
    remaining: '6.00',
    ways: [{ amount: '6.00', amount_units: '6000000000000000000' }],
    payments: [{ amount: '4.00', due_back: '0.00' }],
  });
});

test.each([
  ['another currency', 'ETH'],
  ['the currency with other decimals', 'USDC'],
] as const)('money of %s is shown with its own amounts, and pays nothing', (_, currency) => {
  const [amount, zero] = ['0.100000000000000000', '0.000000000000000000'];
  const amounts = { paid_amount: amount, applied_amount: zero, unapplied_amount: zero, refunded_amount: zero };
  const other = payment({ currency, status: 'orphan', orphan_reason: 'wrong_currency', ...amounts });
  const checkout = of({ payments: [other] });
  expect(checkout).toMatchObject({ state: 'waiting', paid: NONE, remaining: ALL, due_back: NONE });
  expect(checkout.payments).toMatchObject([
    { amount, due_back: amount, returned: zero, orphan_reason: 'wrong_currency' },
  ]);
});

test.each(['received', 'orphan'] as const)('a token that does not count pays nothing of the order: %s', (status) => {
  const bridged = { asset_label: 'USDbC', credited: false };
  const orphan_reason = status === 'orphan' ? ('wrong_currency' as const) : undefined;
  const checkout = of({ payments: [payment({ status, orphan_reason, ...bridged })] });
  expect(checkout).toMatchObject({ state: 'waiting', pending: NONE, remaining: ALL, due_back: NONE });
  expect(checkout.payments).toMatchObject([{ asset_label: 'USDbC', amount: ALL }]);
});

test('shows what is paid for, what it costs and how to pay it', () => {
  expect(of()).toMatchObject({
    merchant: { name: 'La Fonda' },
    lines: [
      {
        name: 'Dinner for two',
        quantity: 1,
        price: '850.00',
        currency: 'MXN',
        modifiers: [{ name: 'Service', price: '85.00' }],
      },
      { name: 'Delivery', kind: 'shipping', price: '50.00' },
      { name: 'Birthday', kind: 'discount', price: '-50.00' },
    ],
    total: ALL,
    remaining: ALL,
    rates: [{ currency: 'MXN', rate: '0.05612', quoted_at: '2026-01-31T12:00:00.000Z' }],
    state: 'waiting',
    deadline: '2026-01-31T13:00:00.000Z',
    ways: [
      {
        network_name: 'Base',
        address: ADDRESS,
        amount: ALL,
        amount_units: '52472200',
        payment_uri: `ethereum:${USDC}@8453/transfer?address=${ADDRESS}&uint256=52472200`,
        required_confirmations: 12,
        minutes: 1,
      },
    ],
  });
});

test('shows what each line stands for, and the sums of other currencies than that of the payment', () => {
  const line = { quantity: 1, currency: 'MXN' as const };
  const items = [
    { ...line, name: 'Dinner', unit_price: '850.00' },
    { ...line, name: 'Birthday', unit_price: '-50.00', kind: 'discount' as const, quantity: 2 },
    { ...line, name: 'VAT', unit_price: '120.00', kind: 'tax' as const },
  ];
  const { lines, sums } = of({ items, item_totals: { MXN: '870.00' } });
  expect(lines.map(({ kind, price }) => [kind, price])).toEqual([
    ['product', '850.00'],
    ['discount', '-100.00'],
    ['tax', '120.00'],
  ]);
  expect(sums).toEqual([{ currency: 'MXN', amount: '870.00' }]);
  expect(of({ item_totals: { USDC: '1.000000' } }).sums).toEqual([]);
  const two = { USDC: '1.000000', MXN: '870.00' };
  expect(of({ item_totals: two }).sums).toHaveLength(2);
});

test.each<[string, Given, Partial<Checkout> & { state: CheckoutState }]>([
  ['an order without instructions yet', { status: 'initialized' }, { state: 'preparing' }],
  [
    'a payment that is not confirmed',
    { payments: [payment()] },
    { state: 'confirming', pending: ALL, remaining: NONE },
  ],
  ['a part that is not confirmed', { payments: [payment(part)] }, { state: 'partially_paid', remaining: REST }],
  [
    'a part that counts',
    { status: 'partially_paid', remaining_amount: REST, payments: [payment({ ...part, status: 'applied' })] },
    { state: 'partially_paid', paid: '20.000000', remaining: REST },
  ],
  [
    'a part that counts and the rest that was seen',
    {
      status: 'partially_paid',
      remaining_amount: REST,
      payments: [payment({ ...part, status: 'applied' }), payment({ paid_amount: REST })],
    },
    { state: 'confirming', paid: '20.000000', pending: REST, remaining: NONE },
  ],
  ['a paid order', { status: 'paid', remaining_amount: NONE, payments: [applied] }, { state: 'paid', paid: ALL }],
  [
    'a surplus that counts',
    { status: 'paid', remaining_amount: NONE, payments: [payment({ status: 'applied', paid_amount: '60.000000' })] },
    { state: 'paid', surplus: '7.527800', due_back: NONE },
  ],
  [
    'a surplus that is due back',
    {
      status: 'paid',
      remaining_amount: NONE,
      payments: [
        payment({ status: 'applied', paid_amount: '60.000000', applied_amount: ALL, unapplied_amount: '7.527800' }),
      ],
    },
    { state: 'paid', surplus: NONE, due_back: '7.527800' },
  ],
  [
    'a second payment of a paid order',
    {
      status: 'paid',
      remaining_amount: NONE,
      payments: [applied, payment({ ...part, status: 'orphan', orphan_reason: 'already_paid' })],
    },
    { state: 'paid', due_back: '20.000000' },
  ],
  [
    'a payment that a reorganization removed',
    { status: 'reversed', status_reason: 'payment_failed', payments: [payment({ status: 'failed' })] },
    { state: 'reversed', remaining: ALL },
  ],
  [
    'a payment that the merchant returned',
    {
      status: 'reversed',
      status_reason: 'payment_refunded',
      payments: [payment({ status: 'refunded', refunded_amount: ALL })],
    },
    { state: 'returned' },
  ],
  [
    'a payment that the merchant returned after another one had failed',
    {
      status: 'reversed',
      status_reason: 'payment_refunded',
      payments: [payment({ status: 'failed' }), payment({ status: 'refunded', refunded_amount: ALL })],
    },
    { state: 'returned' },
  ],
  [
    'a part that the payer sends after the merchant returned all',
    {
      status: 'reversed',
      status_reason: 'payment_refunded',
      payments: [payment({ status: 'refunded', refunded_amount: ALL }), payment(part)],
      deposit_instructions: exampleOf(Order).deposit_instructions.map((each) => ({ ...each, amount: NONE })),
    },
    { state: 'returned' },
  ],
  [
    'all that the payer sends again after the merchant returned it',
    {
      status: 'reversed',
      status_reason: 'payment_refunded',
      payments: [payment({ status: 'refunded', refunded_amount: ALL }), payment()],
    },
    { state: 'confirming' },
  ],
  ['an expired order', { status: 'expired' }, { state: 'expired' }],
  [
    'late money, which the merchant may accept',
    { status: 'expired', payments: [payment({ status: 'orphan', orphan_reason: 'late' })] },
    { state: 'expired', due_back: NONE },
  ],
  [
    'money that came in time and was not enough, which the merchant may accept',
    { status: 'expired', payments: [payment({ ...part, status: 'orphan', orphan_reason: 'insufficient' })] },
    { state: 'expired', due_back: NONE, payments: [expect.objectContaining({ state: 'insufficient' })] },
  ],
  [
    'money on another network, which the merchant may accept',
    { payments: [payment({ ...OTHER_NETWORK, status: 'orphan', orphan_reason: 'wrong_network' })] },
    { state: 'waiting', due_back: NONE, remaining: ALL },
  ],
  [
    'money on another network that is not confirmed',
    { payments: [payment(OTHER_NETWORK)] },
    { state: 'waiting', pending: NONE, remaining: ALL },
  ],
  [
    'nothing of money that somebody else sent before the order',
    { payments: [payment({ status: 'orphan', orphan_reason: 'before_order' })] },
    { state: 'waiting', due_back: NONE, payments: [] },
  ],
  [
    'an order that expired with a part',
    { status: 'partially_paid_expired', remaining_amount: REST, payments: [payment({ ...part, status: 'applied' })] },
    { state: 'partially_paid_expired', paid: '20.000000' },
  ],
  [
    'a canceled order with a part, of which some was returned',
    {
      status: 'canceled',
      payments: [payment({ ...part, status: 'orphan', orphan_reason: 'canceled', refunded_amount: '5.000000' })],
    },
    { state: 'canceled', due_back: '15.000000' },
  ],
])('shows %s', (_, given, expected) => {
  const checkout = of(given);
  expect(checkout).toMatchObject(expected);
  expect(checkout.ways.length > 0).toBe(['waiting', 'partially_paid', 'reversed'].includes(checkout.state));
});

const BACK = { refunded_amount: '9.000000' };
const SURPLUS = { paid_amount: '60.000000', applied_amount: ALL, unapplied_amount: '7.527800' };
test.each<[string, Partial<Payment>[], [paid: string, returned: string, dueBack: string]]>([
  ['nothing', [{ status: 'received' }, { status: 'failed' }], [NONE, NONE, NONE]],
  ['all', [{ status: 'applied' }], [ALL, NONE, NONE]],
  [
    'all, of which a part was returned',
    [{ status: 'applied', applied_amount: '43.472200', ...BACK }],
    [ALL, BACK.refunded_amount, NONE],
  ],
  ['all, which was returned', [{ status: 'refunded', applied_amount: NONE, refunded_amount: ALL }], [ALL, ALL, NONE]],
  ['too much', [{ status: 'applied', ...SURPLUS }], ['60.000000', NONE, '7.527800']],
  [
    'too much, which was returned',
    [{ status: 'applied', ...SURPLUS, unapplied_amount: NONE, refunded_amount: '7.527800' }],
    ['60.000000', '7.527800', NONE],
  ],
  [
    'twice, and has some of it back',
    [{ status: 'applied' }, { status: 'orphan', orphan_reason: 'already_paid', ...BACK }],
    ['104.944400', BACK.refunded_amount, '43.472200'],
  ],
  [
    'twice, and has it back',
    [{ status: 'applied' }, { status: 'refunded', refunded_amount: ALL }],
    ['104.944400', ALL, NONE],
  ],
  ['too late', [{ status: 'orphan', orphan_reason: 'late' }], [ALL, NONE, NONE]],
  ['on another network, unconfirmed', [{ ...OTHER_NETWORK }], [NONE, NONE, NONE]],
  [
    'in another currency',
    [{ status: 'orphan', orphan_reason: 'wrong_currency', currency: 'USDT' }],
    [NONE, NONE, NONE],
  ],
  [
    'a token that does not count',
    [{ status: 'orphan', orphan_reason: 'wrong_currency', credited: false }],
    [NONE, NONE, NONE],
  ],
  ['by somebody else before the order', [{ status: 'orphan', orphan_reason: 'before_order' }], [NONE, NONE, NONE]],
])(
  'says what was paid, what was returned and what is due back to a payer who paid %s',
  (_, payments, [paid, returned, due_back]) =>
    expect(of({ status: 'paid', remaining_amount: NONE, payments: payments.map(payment) })).toMatchObject({
      paid,
      returned,
      due_back,
    }),
);

test('names the refunds that wait for an address on this page, until their links expire', () => {
  const claim_expires_at = NOW.toISOString();
  const shown = { ...exampleOf(Refund), amount: '7.500000', claim_expires_at: '2026-01-31T12:10:00.001Z' };
  const unsettledRefunds = [
    { hash: '0a', refund: shown },
    { hash: '0b', refund: { ...shown, claim_expires_at } },
    { hash: null, refund: shown },
  ];
  expect(of({ unsettledRefunds }).refund_claims).toEqual([
    { amount: '7.500000', currency: 'USDC', of_due_back: NONE, path: `/pay/${REFERENCE}/refunds/0a` },
  ]);
  expect(of().refund_claims).toEqual([]);
});

test.each<[string, [amount: string, hash: string | null][], Partial<Payment>, string[]]>([
  ['a part of it', [['5.000000', '0a']], {}, ['5.000000']],
  ['more than it', [['9.000000', '0a']], {}, ['7.527800']],
  [
    'the rest beside an older refund',
    [
      ['5.000000', null],
      ['9.000000', '0a'],
    ],
    {},
    ['2.527800'],
  ],
  ['nothing of it, for another payment', [['5.000000', '0a']], { id: 'pay_other' }, [NONE]],
  [
    'nothing of late money, which the merchant may accept',
    [['5.000000', '0a']],
    { status: 'orphan', orphan_reason: 'late' },
    [NONE],
  ],
])('says how much of what is due back a refund takes: %s', (_, given, change, parts) => {
  const { payment_id } = exampleOf(Refund);
  const unsettledRefunds = given.map(([amount, hash]) => ({
    hash,
    refund: { ...exampleOf(Refund), payment_id, amount, claim_expires_at: TOO_LATE.toISOString() },
  }));
  const surplus = payment({ id: payment_id, status: 'applied', ...SURPLUS, ...change });
  const { refund_claims } = of({ status: 'paid', remaining_amount: NONE, payments: [surplus], unsettledRefunds });
  expect(refund_claims.map(({ of_due_back }) => of_due_back)).toEqual(parts);
});

test.each([
  ['accepted_by_merchant', true],
  ['settled_within_tolerance', false],
])('says what is missing of a paid order, and whether the merchant accepted it: %s', (status_reason, accepted) => {
  const paid = { status: 'paid', remaining_amount: NONE, shortfall_amount: REST, status_reason } as const;
  const payments = [payment({ ...part, status: 'applied' })];
  expect(of({ ...paid, payments })).toMatchObject({
    shortfall: REST,
    accepted_by_merchant: accepted,
    paid: '20.000000',
  });
  expect(of({ payments })).toMatchObject({ shortfall: NONE, accepted_by_merchant: false });
});

test('asks for what remains after payments that are not confirmed', () =>
  expect(of({ payments: [payment(part)] }).ways[0]).toMatchObject({
    amount: REST,
    amount_units: '32472200',
    payment_uri: expect.stringMatching(/uint256=32472200$/),
  }));

test('asks for no money once the deadline has passed, and goes on with a payment that was seen in time', () => {
  expect(of({}, TOO_LATE)).toMatchObject({ state: 'closing', ways: [] });
  expect(of({ payments: [payment(part)] }, TOO_LATE)).toMatchObject({ state: 'closing', ways: [] });
  expect(of({ payments: [payment()] }, TOO_LATE)).toMatchObject({ state: 'confirming' });
});

test('says that a renewal set a new price', () => {
  const rates = { MXN: { ...shownOrder().order.rates.MXN!, quoted_at: '2026-01-31T13:00:05.000Z' } };
  expect(of()).not.toHaveProperty('price_updated_at');
  expect(of({ rates })).toHaveProperty('price_updated_at', '2026-01-31T13:00:05.000Z');
});

test('shows one address per network, of the rail that comes first, in units of the asset', () => {
  const bnb = deposit({ network: 'bnb', chain_id: 'eip155:56', asset: `eip155:56/erc20:${USDC}`, decimals: 18 });
  const { ways } = of({
    deposits: [deposit(), deposit({ rail: 'crypto_deposit', address: `0x${'1'.repeat(40)}` }), bnb],
  });
  expect(ways.map(({ network, address }) => [network, address])).toEqual([
    ['base', ADDRESS],
    ['bnb', ADDRESS],
  ]);
  expect(ways[1]).toMatchObject({ amount: ALL, amount_units: '52472200000000000000' });
});

test('shows the order without ways to pay where its page has no addresses', () =>
  expect(of({ deposits: [] })).toMatchObject({ state: 'waiting', ways: [] }));

test('says that money is on another network, before and after its confirmation', () => {
  const stateOf = (more: Partial<Payment>) => of({ payments: [payment({ ...OTHER_NETWORK, ...more })] }).payments[0];
  expect(stateOf({})).toMatchObject({ state: 'wrong_network' });
  expect(stateOf({ status: 'orphan', orphan_reason: 'wrong_network' })).toMatchObject({ state: 'wrong_network' });
  expect(stateOf({ status: 'applied' })).toMatchObject({ state: 'counted' });
});

test('counts confirmations to the last block that was read, and up to those that are needed', () => {
  const at = (confirmations: number, required: number | null = 3) =>
    of({ payments: [payment()], depths: { 'eip155:8453/0xabc/0': { confirmations, required } } }).payments[0];
  expect(at(2)).toMatchObject({ network_name: 'Base', confirmations: 2, required_confirmations: 3 });
  expect(at(9)).toMatchObject({ confirmations: 3, required_confirmations: 3 });
  expect(at(1, null)).toMatchObject({ confirmations: 1, required_confirmations: 12 });
  expect(of({ payments: [payment()] }).payments[0]).toMatchObject({ confirmations: 0, required_confirmations: 12 });
  expect(of({ payments: [payment({ provider_id: 'sandbox-1' })] }).payments[0]).not.toHaveProperty('confirmations');
});

test('names the order in the links back to the shop alone', () => {
  const { order } = shownOrder();
  expect(of()).toMatchObject({
    return_url: `https://lafonda.example/thanks?table=B7&order_id=${order.id}&status=awaiting_payment`,
    cancel_url: `https://lafonda.example/cart?order_id=${order.id}&status=awaiting_payment`,
  });
});

test('holds nothing but the payer’s view, whatever the order holds', () => {
  const secrets: Partial<Order> = {
    external_reference_id: 'SECRET-reference',
    metadata: { customer: 'SECRET-metadata' },
    status_reason: 'SECRET-reason',
    return_url: undefined,
    cancel_url: undefined,
    payments: [payment({ metadata: { note: 'SECRET-note' }, failure_reason: 'SECRET-failure' })],
  };
  const checkout = of(secrets);
  expect(Checkout.parse(checkout)).toEqual(checkout);
  const { order } = shownOrder(secrets);
  for (const secret of ['SECRET', order.id, order.merchant_id, order.payments[0]!.id, 'fee', '0.524722'])
    expect(JSON.stringify(checkout)).not.toContain(secret);
});

test.each([
  ['too small to send', undefined, NONE],
  ['due', '0.000499', '0.000499'],
])('owes as much of a surplus that is %s as the payment says', (_, due_back_amount, due_back) => {
  const surplus = payment({ status: 'applied', unapplied_amount: '0.000499', due_back_amount });
  const checkout = of({ status: 'paid', remaining_amount: NONE, payments: [surplus] });
  expect(checkout).toMatchObject({ due_back, payments: [{ due_back }] });
});

test('asks for the amount of the instructions, which wallets take', () => {
  const [instruction] = shownOrder().order.deposit_instructions;
  const { ways, remaining } = of({ deposit_instructions: [{ ...instruction!, amount: '52.480000' }] });
  expect({ remaining, amounts: ways.map(({ amount }) => amount) }).toEqual({
    remaining: '52.480000',
    amounts: ['52.480000'],
  });
});

test('waits for the confirmation of money that settles the order, although a tolerated rest is missing', () => {
  const [instruction] = shownOrder().order.deposit_instructions;
  const seen = payment({ paid_amount: '52.000000' });
  expect(of({ payments: [seen], deposit_instructions: [{ ...instruction!, amount: '0.000000' }] })).toMatchObject({
    state: 'confirming',
    remaining: '0.000000',
  });
});
