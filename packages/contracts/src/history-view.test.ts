import { fromMinor } from './money.ts';
import type { RecordedEntry } from './history.ts';
import { historyView } from './history-view.ts';
import { ORDER_EVENTS } from './order-events.ts';
import { PAYMENT_EVENTS } from './payment-events.ts';
import { exampleMessage } from './examples.ts';
import { HISTORY_ENTRIES, HistoryEntry } from './resources/history.ts';

const ORDER = 'ord_01KGA4S9HNRV4Q0K2M8B6D1C3F';
const DECIMALS = 6;

const entryOf = (stream: string, type: string, data: object): RecordedEntry => ({
  id: 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9',
  stream,
  sequence: 0,
  type,
  at: '2026-01-31T12:00:00.000Z',
  recorded_at: '2026-01-31T12:00:00.001Z',
  actor: 'key:abc',
  request_id: 'req_1',
  correlation_id: 'req_1',
  causation_id: 'req_1',
  previous_hash: 'a',
  hash_version: 2,
  salt: 's',
  hash: 'b',
  data: { ...data },
});
const view = (stream: string, type: string, data: object) =>
  historyView(entryOf(stream, type, data), ORDER, () => DECIMALS);

const published = [...ORDER_EVENTS, ...PAYMENT_EVENTS].flatMap(({ type, message }) =>
  message === null ? [] : [[type, exampleMessage(message)] as const],
);

/** Every field name in a value, except in maps whose keys are data. */
const names = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(names);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [
    name,
    ...(['metadata', 'rates'].includes(name) ? [] : names(part)),
  ]);
};

test.each(published)('%s is shown in snake_case, with decimal amounts and no internal field', (type, message) => {
  const stream = type.startsWith('Order') ? `order-${ORDER}` : `payment-${message.subject}`;
  const { change } = message.data;
  const shown = view(stream, type, { ...change, secretOfANewerVersion: '1' });
  expect(HistoryEntry.parse(shown)).toEqual(shown);
  expect(names(shown).filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([]);
  expect(JSON.stringify(shown)).not.toMatch(/minor|derivation|fingerprint|secret|salt/i);
  const minors = [...JSON.stringify(change).matchAll(/"\w+Minor":"(\d+)"/g)].map(([, minor]) => minor!);
  const hidden = type === 'OrderRenewed' ? 1 : 0;
  const amounts = JSON.stringify(shown.data).match(/_?amount":"\d+\.\d{6}"/g) ?? [];
  expect(amounts.length).toBeGreaterThanOrEqual(minors.length - hidden);
  for (const amount of amounts)
    expect(minors.map((minor) => fromMinor(BigInt(minor), DECIMALS))).toContain(/"(\d+\.\d+)"/.exec(amount)![1]);
});

const changeOf = (type: string): Record<string, unknown> => Object.fromEntries(published)[type]!.data.change;
const { items, capabilities, rates } = changeOf('OrderCreated');
const {
  block,
  txHash: tx_hash,
  seenAt: seen_at,
  providerId: provider_id,
} = changeOf('PaymentReceived') as {
  [name: string]: string;
};
const elsewhere = changeOf('PaymentBlockChanged').block;
const [PAYMENT, PAYMENT_ORDER, OWNER] = [
  'pay_1C3V7TYKRH1Z37560HCG4W7W80',
  'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D',
  'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K',
];
const token = { asset: 'eip155:137/erc20:0x2791', assetLabel: 'USDC.e', credited: false };
const shownToken = { asset: token.asset, asset_label: 'USDC.e', credited: false };
const metadata = { table: 12 };
const at = (minute: string, second = '10') => `2026-01-31T12:${minute}:${second}.000Z`;
const [deposit] = changeOf('OrderCreated').instructions as [object];
const where = {
  rail: 'crypto_deposit',
  currency: 'USDT',
  network: 'ethereum',
  chain_id: 'eip155:1',
  asset: 'eip155:1/erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7',
  address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  decimals: 6,
  required_confirmations: 20,
};
const page = { rail: 'gateway_pay', currency: 'USDT', provider: 'acme' };
const received = {
  payment_rail: 'crypto_deposit',
  provider_id,
  currency: 'USDT',
  ...shownToken,
  paid_amount: '14.030000',
  fee_amount: '0.140300',
  tx_hash,
  confirmations: 1,
  block,
  metadata,
  seen_at,
};
const expiry = { orphanedPaymentIds: [PAYMENT] };

// An event of each type, with fields that its example leaves out, and all that the history shows of it.
test.each<[string, more: object, shown: object]>([
  [
    'OrderCreated',
    { toleranceBps: 50, metadata },
    {
      order_id: PAYMENT_ORDER,
      merchant_id: OWNER,
      external_reference_id: 'invoice-2026-0131',
      return_url: 'https://lafonda.example/thanks?table=B7',
      cancel_url: 'https://lafonda.example/cart',
      metadata,
      items,
      enable_rails: ['crypto_deposit'],
      currency: 'USDT',
      capabilities,
      rates,
      total_amount: '14.030000',
      underpayment_tolerance_percent: 0.5,
      expiration_minutes: 60,
      expiration_date: '2026-01-31T13:00:00.000Z',
      deposit_instructions: [where],
      status: 'awaiting_payment',
      status_reason: 'created',
    },
  ],
  [
    'OrderInstructed',
    {
      instructions: [
        { ...page, paymentReference: 'REF', paymentUrl: 'https://acme.example/REF' },
        { ...deposit, assetLabel: 'USDT0' },
      ],
    },
    {
      deposit_instructions: [
        { ...page, payment_reference: 'REF', payment_url: 'https://acme.example/REF' },
        { ...where, asset_label: 'USDT0' },
      ],
      status: 'awaiting_payment',
      status_reason: 'instructions_ready',
    },
  ],
  [
    'OrderPaymentReceived',
    { payment: { ...(changeOf('OrderPaymentReceived').payment as object), ...token, metadata, confirmedAt: at('05') } },
    { payment: { id: PAYMENT, ...received, confirmed_at: at('05'), created_at: at('04') }, confirmed: false },
  ],
  ['OrderPaymentConfirmed', {}, { payment_id: PAYMENT, confirmations: 20, confirmed_at: at('08') }],
  ['OrderPaymentBlockChanged', {}, { payment_id: PAYMENT, confirmations: 1, block: elsewhere }],
  [
    'OrderPaymentsApplied',
    { allocations: [{ paymentId: PAYMENT, appliedMinor: '14000000', unappliedMinor: '30000' }] },
    {
      allocations: [{ payment_id: PAYMENT, applied_amount: '14.000000', unapplied_amount: '0.030000' }],
      status: 'paid',
      status_reason: 'payment_settled',
    },
  ],
  ['OrderPaymentsOrphaned', {}, { payment_ids: [PAYMENT], orphan_reason: 'canceled' }],
  [
    'OrderPaymentFailed',
    {},
    {
      payment_id: PAYMENT,
      failure_reason: 'dropped from the chain',
      failed_at: at('08'),
      status: 'awaiting_payment',
      status_reason: 'created',
    },
  ],
  [
    'OrderPaymentReinstated',
    { confirmed: true, confirmedAt: at('09') },
    {
      payment_id: PAYMENT,
      sighting: 2,
      reinstated_at: at('09', '00'),
      confirmed: true,
      confirmed_at: at('09'),
      confirmations: 1,
      block: elsewhere,
    },
  ],
  [
    'OrderPaymentRefunded',
    {},
    {
      payment_id: PAYMENT,
      refund_id: 'rfd_01KGA5Q4J6M8P0R2T4V6X8Z0B2',
      refunded_amount: '14.030000',
      applied_amount: '0.000000',
      refunded_at: '2026-02-02T09:30:00.000Z',
      status: 'reversed',
      status_reason: 'payment_refunded',
    },
  ],
  [
    'OrderAccepted',
    {},
    {
      shortfall_amount: '0.030000',
      reason: 'the bank of the payer kept a fee',
      status: 'paid',
      status_reason: 'accepted_by_merchant',
    },
  ],
  ['OrderPaid', {}, { status: 'paid', status_reason: 'payment_settled' }],
  [
    'OrderUpdated',
    { expirationMinutes: 10, expiresAt: at('20') },
    { metadata, expiration_minutes: 10, expiration_date: at('20') },
  ],
  [
    'OrderRenewed',
    {},
    {
      rates: changeOf('OrderRenewed').rates,
      total_amount: '14.030000',
      expiration_date: '2026-01-31T14:00:00.000Z',
      renewal: 1,
    },
  ],
  ['OrderTimeAdvanced', {}, { minutes: 45, expiration_date: '2026-01-31T12:15:00.000Z' }],
  ['OrderExpired', expiry, { payment_ids: [PAYMENT], status: 'expired', status_reason: 'deadline_passed' }],
  ['OrderCanceled', expiry, { payment_ids: [PAYMENT], status: 'canceled', status_reason: 'canceled_by_merchant' }],
  [
    'PaymentReceived',
    { ...token, metadata },
    { payment_id: PAYMENT, order_id: PAYMENT_ORDER, merchant_id: OWNER, ...received, confirmed: false },
  ],
  ['PaymentConfirmed', {}, { confirmations: 20 }],
  ['PaymentBlockChanged', {}, { confirmations: 1, block: elsewhere }],
  [
    'PaymentApplied',
    { appliedMinor: '14000000', unappliedMinor: '30000' },
    { order_id: PAYMENT_ORDER, applied_amount: '14.000000', unapplied_amount: '0.030000' },
  ],
  ['PaymentOrphaned', {}, { orphan_reason: 'canceled' }],
  ['PaymentFailed', {}, { failure_reason: 'dropped from the chain' }],
  ['PaymentReinstated', {}, { sighting: 2, seen_at, confirmed: false, confirmations: 1, block: elsewhere }],
  [
    'PaymentRefunded',
    { amountMinor: '30000' },
    {
      refund_id: 'rfd_01KGA5Q4J6M8P0R2T4V6X8Z0B2',
      amount: '0.030000',
      refunded_amount: '14.030000',
      reason: 'goods returned',
      tx_hash: '0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b',
      network: 'ethereum',
      destination: '0x52908400098527886E0F7030069857D2E4169EE7',
    },
  ],
  ['PaymentAssigned', {}, { merchant_id: OWNER, order_id: PAYMENT_ORDER, sighting: 2, seen_at, confirmed_at: seen_at }],
])('the history shows of %s all that a merchant may know', (type, more, shown) => {
  const stream = type.startsWith('Order') ? `order-${ORDER}` : `payment-${PAYMENT}`;
  expect(view(stream, type, { ...changeOf(type), ...more }).data).toEqual(shown);
});

test('the deletion of an order has its reason', () =>
  expect(view(`order-${ORDER}`, 'OrderDeleted', { reason: 'deleted_by_merchant', at: at('10') }).data).toEqual({
    reason: 'deleted_by_merchant',
  }));

test('an order shows what each payment is refunded in its own currency, and its own amounts in that of the order', () => {
  const decimals: Record<string, number> = { [ORDER]: 6, [PAYMENT]: 8 };
  const shown = (type: string) =>
    historyView(entryOf(`order-${ORDER}`, type, changeOf(type)), ORDER, (id) => decimals[id]).data;
  expect(shown('OrderPaymentRefunded')).toMatchObject({ refunded_amount: '0.14030000' });
  expect(shown('OrderCreated')).toMatchObject({ total_amount: '14.030000' });
});

test('an entry keeps what is known of its recording', () => {
  const entry = entryOf(`order-${ORDER}`, 'OrderPaid', changeOf('OrderPaid'));
  const { salt: _, hash_version: __, ...known } = entry;
  expect(historyView(entry, ORDER, () => DECIMALS)).toEqual({
    ...known,
    order_id: ORDER,
    data: { status: 'paid', status_reason: 'payment_settled' },
  });
});

test('an assignment shows merchants neither the reason nor the person', () => {
  const { change } = exampleMessage('payment.assigned').data;
  const shown = view('payment-p', 'PaymentAssigned', change);
  expect(shown.data).toMatchObject({ order_id: expect.any(String), sighting: 2 });
  expect(JSON.stringify(shown)).not.toMatch(/invoice|"ana"/);
});

test('each type of event has an entry in the history', () => {
  const types = [...ORDER_EVENTS, ...PAYMENT_EVENTS].map(({ type }) => type);
  expect(Object.keys(HISTORY_ENTRIES)).toEqual(types);
});

test('an event of a newer version is shown without data', () => {
  expect(view(`order-${ORDER}`, 'OrderGifted', { at: '2026-01-31T12:00:00.000Z', giftedTo: 'Ana' }).data).toEqual({});
  expect(view(`order-${ORDER}`, 'constructor', {}).data).toEqual({});
});

test('an amount of a payment whose decimals are not known is left out', () => {
  const data = { refundId: 'rfd_01KGA4S9HNRV4Q0K2M8B6D1C3F', amountMinor: '1', refundedTotalMinor: '1' };
  const entry = entryOf('payment-pay_1', 'PaymentRefunded', { ...data, at: '2026-01-31T12:00:00.000Z' });
  expect(historyView(entry, ORDER, () => undefined).data).toEqual({ refund_id: data.refundId });
  const applied = entryOf(`order-${ORDER}`, 'OrderPaymentsApplied', changeOf('OrderPaymentsApplied'));
  expect(historyView(applied, ORDER, () => undefined).data).toMatchObject({ allocations: [] });
});
