import { faultsIn } from '../testing/jest-faults.ts';
import {
  DepositInstruction,
  MerchantCreateOrderDto,
  Order,
  toleranceBpsOf,
  TolerancePercent,
  UpdateOrderDto,
} from './order.ts';

const capabilities = {
  can_cancel: true,
  can_update: true,
  can_overpay: false,
  partial_payments: false,
  express_checkout: false,
  expiration_auto_renewal: false,
};
const item = { name: 'Coffee', quantity: 2, unit_price: '45.50', currency: 'MXN' as const };
const order = {
  external_reference_id: 'order-1',
  items: [item],
  enable_rails: ['crypto_deposit'],
  payment_currency: 'USDT',
  capabilities,
};

describe('a new order', () => {
  test('accepts the body of the API reference', () => expect(MerchantCreateOrderDto.parse(order)).toEqual(order));

  test('may leave out what its merchant can have a default for, and nothing else', () => {
    const { enable_rails, payment_currency, capabilities: _, ...rest } = order;
    expect(faultsIn(MerchantCreateOrderDto, rest)).toEqual([]);
    expect(faultsIn(MerchantCreateOrderDto, { enable_rails, payment_currency })).toHaveLength(2);
  });

  test.each([
    ['the order', { ...order, tip: '1' }],
    ['an item', { ...order, items: [{ ...item, colour: 'red' }] }],
    ['the capabilities', { ...order, capabilities: { ...capabilities, can_fly: true } }],
  ])('refuses an unknown field in %s', (_, body) => {
    const parsed = MerchantCreateOrderDto.safeParse(body);
    expect(parsed.error?.issues.map(({ code }) => code)).toEqual(['unrecognized_keys']);
  });

  test.each([
    ['no item', { items: [] }],
    ['101 items', { items: Array(101).fill(item) }],
    ['no rail', { enable_rails: [] }],
    ['a rail twice', { enable_rails: ['crypto_deposit', 'crypto_deposit'] }],
    ['an unknown rail', { enable_rails: ['cash'] }],
    ['an item currency as payment currency', { payment_currency: 'MXN' }],
    ['an empty reference', { external_reference_id: '' }],
    ['a reference of 129 characters', { external_reference_id: 'x'.repeat(129) }],
    ['an expiration of 4 minutes', { expiration_minutes: 4 }],
    ['an expiration of more than 30 days', { expiration_minutes: 43_201 }],
    ['a fraction of a minute', { expiration_minutes: 5.5 }],
    ['a negative tolerance', { underpayment_tolerance_percent: -0.01 }],
    ['a tolerance of more than 5 percent', { underpayment_tolerance_percent: 5.01 }],
    ['a tolerance with 3 decimals', { underpayment_tolerance_percent: 1.005 }],
    ['a tolerance in text', { underpayment_tolerance_percent: '1' }],
  ])('refuses %s', (_, difference) => {
    expect(MerchantCreateOrderDto.safeParse({ ...order, ...difference }).success).toBe(false);
  });

  // The gateway requires these where the merchant has no default.
  const WITH_DEFAULTS = ['enable_rails', 'payment_currency', 'capabilities'];
  test.each(Object.keys(order).filter((field) => !WITH_DEFAULTS.includes(field)))('requires %s', (field) => {
    const { [field as keyof typeof order]: _, ...rest } = order;
    expect(MerchantCreateOrderDto.safeParse(rest).success).toBe(false);
  });

  test.each(Object.keys(capabilities))('requires the capability %s', (flag) => {
    const { [flag as keyof typeof capabilities]: _, ...rest } = capabilities;
    expect(faultsIn(MerchantCreateOrderDto, { ...order, capabilities: rest })[0]).toMatch(`capabilities.${flag}: `);
  });
});

test('an update of an order must change something', () => {
  expect(faultsIn(UpdateOrderDto, {})).toEqual([': must have metadata, expiration_minutes or items']);
  expect(UpdateOrderDto.safeParse({ metadata: {} }).success).toBe(true);
});

test('an order shows where it can be paid: at an address or at a page', () => {
  const shown = { currency: 'USDT', amount: '1.000000', expires_at: '2026-01-31T13:00:00.000Z' };
  const page = {
    ...shown,
    rail: 'gateway_pay',
    provider: 'acme',
    payment_reference: 'REF',
    payment_url: 'https://a.example',
  };
  const address = {
    ...shown,
    rail: 'crypto_deposit',
    network: 'ethereum',
    chain_id: 'eip155:1',
    asset: 'eip155:1/slip44:60',
    address: '0xA1',
    amount_units: '1000000',
    decimals: 6,
    required_confirmations: 12,
  };
  for (const instruction of [page, address]) expect(DepositInstruction.parse(instruction)).toEqual(instruction);
  expect(DepositInstruction.safeParse({ ...page, rail: 'cash' }).success).toBe(false);
});

test('an order from a time of other limits is shown as it is', () => {
  const line = { ...item, name: 'x'.repeat(1_000), quantity: 0.0000001 };
  const stored = {
    id: 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C',
    merchant_id: 'mer_01KG9Q0A1B2C3D4E5F6G7H8J9K',
    external_reference_id: 'x'.repeat(1_000),
    items: Array(200).fill({ ...line, unit_price: '45.501', modifiers: Array(30).fill({ ...line, name: '' }) }),
    item_totals: { MXN: '18018.9009' },
    payments: [],
    status: 'paid',
    total_amount: '1.000000',
    remaining_amount: '0.000000',
    currency: 'USDT',
    rates: {},
    capabilities,
    deposit_instructions: [],
    metadata: { note: 'x'.repeat(20_000) },
  };
  expect(Order.parse(stored)).toEqual(stored);
});

test.each([0, 0.01, 0.29, 1.15, 4.35, 5])('takes a tolerance of %d percent exactly', (percent) => {
  expect(TolerancePercent.parse(percent)).toBe(percent);
  expect(toleranceBpsOf(percent) / 100).toBe(percent);
});
