import type { z } from 'zod';
import { ASSIGNED, OFFERED, order, ORDER, PAYABLE, payment, PAYMENT, REFUND, SEEN } from './examples/values.ts';
import * as contracts from './index.ts';

// A field that a schema does not name is dropped from a call, and nobody checks it in an event.

const MERCHANT = 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K';
const ASSET = 'eip155:1/slip44:60';
const at = SEEN;
const setting = (type: string, data: object) => [type, contracts.DepositSettingsEvent, { type, data }] as const;
const change = (name: string, fields: object) =>
  [name, contracts.DepositSettingsCall, { change: name, ...fields }] as const;
const outcome = (status: string, fields: object = {}) =>
  [`an outcome: ${status}`, contracts.PaymentOutcome, { status, payment_id: PAYMENT, ...fields }] as const;
const REPORT = {
  rail: 'crypto_deposit',
  provider_id: 'tx:0',
  amount: '1.50',
  currency: 'ETH',
  asset: ASSET,
  asset_label: 'WETH',
  credited: false,
  confirmed: true,
  reinstates: false,
  tx_hash: '0x1',
  seen_at: at,
  block: { height: 7, hash: '0x2' },
  confirmations: 3,
  metadata: { table: 'B7' },
};
const OFFER = { payment: payment(), seen_at: at, confirmed_at: at, sighting: 2, block_changes: 1 };
const RAIL_OFFER = {
  currency: 'ETH',
  is_available: true,
  minimum_amount: '0.001',
  networks: [{ network: 'ethereum', chain_id: 'eip155:1', asset: ASSET, minimum_amount: '0.001', is_available: true }],
};
const DEPOSIT = {
  rail: 'crypto_deposit',
  network: 'ethereum',
  chain_id: 'eip155:1',
  asset: ASSET,
  asset_label: 'WETH',
  not_tokens: ['USDC.e'],
  address: '0x1',
  decimals: 18,
  required_confirmations: 12,
  explorer: 'https://explorer.example',
};

const MESSAGES: readonly (readonly [name: string, schema: z.ZodType, value: object])[] = [
  setting('DepositAccountSet', { merchantId: null, network: 'ethereum', account: '3442193e', keyHash: 'ab', at }),
  setting('DepositAccountRemoved', { merchantId: MERCHANT, network: 'ethereum', at }),
  setting('DepositConfirmationsSet', { merchantId: MERCHANT, asset: ASSET, fromMinor: '0', confirmations: 3, at }),
  setting('DepositConfirmationsRemoved', { merchantId: MERCHANT, asset: ASSET, at }),
  setting('UnderpaymentToleranceSet', { merchantId: MERCHANT, toleranceBps: 50, at }),
  setting('RefundAddressAdded', { merchantId: MERCHANT, network: 'ethereum', address: '0x1', at }),
  setting('RefundAddressRemoved', { merchantId: MERCHANT, network: 'ethereum', address: '0x1', at }),
  ['an unknown setting', contracts.DepositSettingsEvent, { type: 'SettingOfLater', data: { at } }],
  change('set_account', { network: 'ethereum', key: 'xpub' }),
  change('remove_account', { network: 'ethereum' }),
  change('set_confirmations', { asset: ASSET, confirmations: 3, from: '100' }),
  change('remove_confirmations', { asset: ASSET }),
  change('set_tolerance', { percent: 0.5 }),
  change('add_refund_address', { network: 'ethereum', address: '0x1' }),
  change('remove_refund_address', { network: 'ethereum', address: '0x1' }),
  [
    'deposit settings',
    contracts.DepositSettingsView,
    {
      accounts: [{ network: 'ethereum', fingerprint: 'ab', owner: 'merchant', depth: 3, first_address: '0x1' }],
      confirmations: [
        { asset: ASSET, currency: 'ETH', network: 'ethereum', owner: 'platform', from: '0', confirmations: 3 },
      ],
      underpayment_tolerance_percent: 0.5,
      refund_addresses: [{ network: 'ethereum', address: '0x1' }],
    },
  ],
  [
    'DerivationIndexesReserved',
    contracts.DerivationIndexesReserved,
    {
      type: 'DerivationIndexesReserved',
      data: { account: '3442193e', first: 3, count: 2, again: [1], skipped: true, at },
    },
  ],
  [
    'ChainReadingStarted',
    contracts.ChainEvent,
    {
      type: 'ChainReadingStarted',
      data: { network: 'ethereum', height: 7, hash: '0x1', chainId: 'eip155:1', genesis: '0x0', at },
    },
  ],
  [
    'ChainReadUpTo',
    contracts.ChainEvent,
    { type: 'ChainReadUpTo', data: { network: 'ethereum', height: 7, hash: '0x1', at } },
  ],
  [
    'StoreIdentified',
    contracts.StoreIdentified,
    { type: 'StoreIdentified', data: { storeId: 'sto_1', environment: 'sandbox', format: 3, at } },
  ],
  [
    'CurrencyScaleRecorded',
    contracts.CurrencyScaleRecorded,
    { type: 'CurrencyScaleRecorded', data: { currency: 'ETH', decimals: 8, at } },
  ],
  [
    'OrderDeletionRecorded',
    contracts.OrderDeletionEvent,
    {
      type: 'OrderDeletionRecorded',
      data: {
        orderId: ORDER,
        merchantId: MERCHANT,
        actor: 'key_1',
        lastHash: 'ab',
        sequence: 3,
        payables: [
          PAYABLE,
          { rail: 'gateway_pay', provider: 'hosted', paymentReference: 'r', deposits: [depositOf(PAYABLE)] },
        ],
        paymentIds: [PAYMENT],
        failedPaymentIds: [PAYMENT],
        at,
      },
    },
  ],
  [
    'instructions',
    contracts.Instructions,
    {
      instructions: [
        { ...ASSIGNED, assetLabel: 'Tether', smallestPayableMinor: '2', payableStepMinor: '2' },
        {
          rail: 'gateway_pay',
          currency: 'USDT',
          provider: 'hosted',
          paymentReference: 'r',
          paymentUrl: 'https://pay.example/r',
          qrContent: 'qr',
          deposits: [depositOf(ASSIGNED)],
        },
      ],
    },
  ],
  [
    'an offered payment, as recorded',
    contracts.RecordedOfferedPayment,
    {
      ...OFFERED,
      blockChanges: 1,
      blockChangedAt: at,
      metadata: { table: 'B7' },
      confirmedAt: at,
      sighting: 2,
      reinstatedAt: at,
    },
  ],
  ['a call for one order', contracts.OrderCall, { merchant_id: MERCHANT }],
  [
    'a call that creates an order',
    contracts.CreateOrderCall,
    { order_id: ORDER, merchant_id: MERCHANT, order: {}, request_hash: 'ab', only_repeat: true },
  ],
  ['a call that updates an order', contracts.UpdateOrderCall, { merchant_id: MERCHANT, changes: {} }],
  ['a call that advances the time', contracts.AdvanceTimeCall, { minutes: 5 }],
  ['a deletion', contracts.OrderDeletion, { id: ORDER, deleted: true }],
  [
    'a summary',
    contracts.OrderSummary,
    { id: ORDER, merchant_id: MERCHANT, currency: 'ETH', status: 'paid', rails: ['crypto_deposit'] },
  ],
  outcome('received'),
  outcome('applied', {
    applied_minor: '3',
    unapplied_minor: '1',
    smallest_payable_minor: '1',
    sighting: 2,
    at,
  }),
  outcome('orphan', { orphan_reason: 'late', sighting: 2, at }),
  outcome('failed'),
  outcome('refunded'),
  ['an offer', contracts.OfferPaymentCall, OFFER],
  ['a failure of an offered payment', contracts.FailPaymentCall, { ...OFFER, failure_reason: 'dropped', at }],
  ['a refund of an offered payment', contracts.RefundPaymentCall, { refund_id: REFUND, refunded_total_minor: '3', at }],
  [
    'an order and outcomes',
    contracts.OrderAndOutcomes,
    { order: order(), outcomes: [{ status: 'failed', payment_id: PAYMENT }] },
  ],
  [
    'a call for instructions',
    contracts.InstructionsCall,
    {
      order_id: ORDER,
      merchant_id: MERCHANT,
      currency: 'ETH',
      rails: ['crypto_deposit'],
      amount_minor: '3',
      decimals: 8,
    },
  ],
  ['a call for stock', contracts.StockCall, { addresses: { ethereum: 3 }, references: 2 }],
  [
    'stock',
    contracts.Stock,
    {
      addresses: { ethereum: [{ address: '0x1', derivation: { fingerprint: 'ab', path: '0/1' } }] },
      references: {
        hosted: [{ payment_reference: 'r', payment_url: 'https://pay.example/r', networks: ['ethereum'] }],
      },
    },
  ],
  [
    'availability',
    contracts.Availability,
    { networks: { ethereum: 5_000 }, offers: { crypto_deposit: [RAIL_OFFER], gateway_pay: [RAIL_OFFER] } },
  ],
  ['a payment to an order', contracts.RegisterPaymentCall, { ...REPORT, order_id: ORDER }],
  ['a payment to an address', contracts.RegisterPaymentCall, { ...REPORT, address: '0x1' }],
  ['a confirmation', contracts.ConfirmationCall, { confirmations: 3, block: { height: 7, hash: '0x2' } }],
  ['a failure', contracts.FailureCall, { failure_reason: 'reorg' }],
  [
    'a refund',
    contracts.RefundCall,
    {
      merchant_id: MERCHANT,
      refund_id: REFUND,
      amount: '1.50',
      what: 'surplus',
      reason: 'too much',
      settle: 'on_chain',
      tx_hash: '0x1',
      network: 'ethereum',
      destination: '0x2',
    },
  ],
  ['a request of a refund', contracts.RefundRequestCall, { merchant_id: MERCHANT, destination: '0x1' }],
  ['a cancellation of a refund', contracts.CancelRefundCall, { merchant_id: MERCHANT }],
  ['a registered payment', contracts.RegisteredPayment, { payment: payment(), order: order() }],
  ['decisions', contracts.OutcomesCall, { outcomes: [{ status: 'refunded', payment_id: PAYMENT }] }],
  ['a search for an unsettled payment', contracts.UnsettledPaymentCall, { held_by_order: [PAYMENT] }],
  ['the payments of an order', contracts.PaymentsOfOrder, { payment_ids: [PAYMENT] }],
  ['an unsettled payment', contracts.UnsettledPayment, { payment_id: PAYMENT }],
  ['a question to chains', contracts.ChainsWaitingCall, { networks: ['ethereum'], addresses: ['0x1'], at }],
  ['chains that wait', contracts.ChainsWaiting, { waiting_for: ['ethereum'], unreported: ['ethereum'] }],
  ['a question to providers', contracts.ProvidersWaitingCall, { references: [{ provider: 'acme', reference: 'r' }] }],
  ['providers that wait', contracts.ProvidersWaiting, { waiting_for: ['acme'] }],
  [
    'the addresses of a payment page',
    contracts.PaymentPageAddresses,
    { order_id: ORDER, merchant_id: MERCHANT, deposits: [DEPOSIT] },
  ],
  ['a call for a test delivery', contracts.TestDeliveryCall, { webhook_id: 'whk_1', event_type: 'order:paid' }],
  ['a test delivery', contracts.TestDelivery, { delivery_id: 'dlv_1' }],
  ['a replay', contracts.ReplayCall, { replay_id: 'rpl_1', from_date: at, to_date: at, event_types: ['order:paid'] }],
  ['a page of orders', contracts.HistoryOrders, { orders: [{ id: ORDER, place: 'a' }], next: 'b' }],
  ['a query of orders', contracts.HistoryOrdersQuery, { from: at, to: at, after: 'a', limit: 5 }],
  ['a query of a state', contracts.OrderStateQuery, { at }],
  [
    'an entry of a stream',
    contracts.RecordedEntry,
    {
      id: contracts.EXAMPLE_IDS.event,
      stream: `order-${ORDER}`,
      sequence: 0,
      type: 'OrderPaid',
      at,
      recorded_at: at,
      actor: 'key_1',
      request_id: 'r',
      correlation_id: 'c',
      causation_id: 'd',
      previous_hash: 'ab',
      hash_version: 2,
      salt: 's',
      hash: 'cd',
      data: {},
    },
  ],
];

/** An instruction or a payable as one of the deposits behind a payment page. */
function depositOf<T extends object>(instruction: T): object {
  return Object.fromEntries(Object.entries(instruction).filter(([name]) => !['rail', 'currency'].includes(name)));
}

/** The paths of all fields and elements. */
const pathsIn = (value: unknown): (string | number)[][] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, part]) => [[name], ...pathsIn(part).map((path) => [name, ...path])]);

/** No field accepts it. */
const WRONG = () => {};
const withWrong = (value: object, [name, ...rest]: readonly (string | number)[]): object => {
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
  copy[name!] = rest.length === 0 ? WRONG : withWrong(copy[name!] as object, rest);
  return copy;
};

test.each(MESSAGES)('%s has every field, and each is checked', (_, schema, value) => {
  expect(schema.parse(value)).toEqual(value);
  const unchecked = pathsIn(value).filter((path) => schema.safeParse(withWrong(value, path)).success);
  expect(unchecked.map((path) => path.join('.'))).toEqual([]);
});
