import fc from 'fast-check';
import { decimalsOf, ItemCurrency } from './currencies.ts';
import {
  CreateMerchantDto,
  CreateWebhookDto,
  Item,
  MerchantCreateOrderDto,
  Metadata,
  METADATA_MAX_BYTES,
  Quantity,
  UpdateOrderDto,
  UpdateWebhookDto,
} from './resources.ts';

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

const faultsIn = (schema: { safeParse: (value: unknown) => { success: boolean; error?: unknown } }, value: unknown) => {
  const { error } = schema.safeParse(value) as { error?: { issues: { path: PropertyKey[]; message: string }[] } };
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
};

describe('a quantity', () => {
  test.each([0.000001, 0.1, 1, 2.5, 999_999.999999, 1_000_000])('may be %p', (value) => {
    expect(Quantity.safeParse(value).success).toBe(true);
  });

  test.each([0, -1, 1_000_000.000001, 0.0000001, 1e-7, 1.1234567, NaN, Infinity, '1', null])(
    'may not be %p',
    (value) => {
      expect(Quantity.safeParse(value).success).toBe(false);
    },
  );

  test('may be every number of millionths up to a million', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000_000_000 }), (millionths) => {
        expect(Quantity.safeParse(Number(`${millionths}e-6`)).success).toBe(true);
      }),
    );
  });
});

describe('an item', () => {
  test('has a price with at most the decimals of its currency', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ItemCurrency.options), fc.integer({ min: 0, max: 18 }), (currency, decimals) => {
        const unit_price = decimals === 0 ? '1' : `1.${'1'.repeat(decimals)}`;
        const most = decimalsOf(currency);
        expect(faultsIn(Item, { ...item, unit_price, currency })).toEqual(
          decimals <= most ? [] : [`unit_price: ${currency} has ${most} decimals, this has ${decimals}`],
        );
      }),
    );
  });

  test('may cost nothing', () => expect(Item.safeParse({ ...item, unit_price: '0' }).success).toBe(true));

  test('names the modifier whose price has too many decimals', () => {
    const modifiers = [item, { ...item, unit_price: '0.123' }];
    expect(faultsIn(Item, { ...item, modifiers })).toEqual(['modifiers.1.unit_price: MXN has 2 decimals, this has 3']);
  });

  test('has at most 20 modifiers, which have none themselves', () => {
    expect(Item.safeParse({ ...item, modifiers: Array(20).fill(item) }).success).toBe(true);
    expect(Item.safeParse({ ...item, modifiers: Array(21).fill(item) }).success).toBe(false);
    expect(Item.safeParse({ ...item, modifiers: [{ ...item, modifiers: [] }] }).success).toBe(false);
  });
});

describe('metadata', () => {
  const filled = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

  test('may be as long as its limit, and no longer', () => {
    expect(Metadata.safeParse(filled(METADATA_MAX_BYTES)).success).toBe(true);
    expect(Metadata.safeParse(filled(METADATA_MAX_BYTES + 1)).success).toBe(false);
  });

  test('is measured in bytes, not characters', () => {
    const half = { a: 'é'.repeat(METADATA_MAX_BYTES / 2) };
    expect(JSON.stringify(half).length).toBeLessThan(METADATA_MAX_BYTES);
    expect(Metadata.safeParse(half).success).toBe(false);
  });

  test('may be any object of JSON, and comes back as it was', () => {
    fc.assert(
      fc.property(
        // The parser in front refuses that name, at any depth.
        fc.dictionary(fc.string(), fc.jsonValue()).filter((value) => !JSON.stringify(value).includes('"__proto__"')),
        (value) => {
          fc.pre(Buffer.byteLength(JSON.stringify(value)) <= METADATA_MAX_BYTES);
          expect(JSON.stringify(Metadata.parse(value))).toBe(JSON.stringify(value));
        },
      ),
    );
  });

  test.each([null, 'text', 1, [], undefined])('is an object, not %p', (value) => {
    expect(Metadata.safeParse(value).success).toBe(false);
  });
});

describe('a new order', () => {
  test('is what the reference shows', () => expect(MerchantCreateOrderDto.parse(order)).toEqual(order));

  test.each([
    ['the order', { ...order, tip: '1' }],
    ['an item', { ...order, items: [{ ...item, colour: 'red' }] }],
    ['the capabilities', { ...order, capabilities: { ...capabilities, can_fly: true } }],
  ])('has no unknown field in %s', (_, body) => {
    const parsed = MerchantCreateOrderDto.safeParse(body);
    expect(parsed.error?.issues.map(({ code }) => code)).toEqual(['unrecognized_keys']);
  });

  test.each([
    ['no item', { items: [] }],
    ['101 items', { items: Array(101).fill(item) }],
    ['no rail', { enable_rails: [] }],
    ['a rail twice', { enable_rails: ['crypto_deposit', 'crypto_deposit'] }],
    ['an unknown rail', { enable_rails: ['cash'] }],
    ['an item currency to pay in', { payment_currency: 'MXN' }],
    ['an empty reference', { external_reference_id: '' }],
    ['a reference of 129 characters', { external_reference_id: 'x'.repeat(129) }],
    ['four minutes to pay', { expiration_minutes: 4 }],
    ['more than 30 days to pay', { expiration_minutes: 43_201 }],
    ['half a minute more', { expiration_minutes: 5.5 }],
  ])('cannot have %s', (_, difference) => {
    expect(MerchantCreateOrderDto.safeParse({ ...order, ...difference }).success).toBe(false);
  });

  test.each(Object.keys(order))('cannot go without %s', (field) => {
    const { [field as keyof typeof order]: _, ...rest } = order;
    expect(MerchantCreateOrderDto.safeParse(rest).success).toBe(false);
  });

  test.each(Object.keys(capabilities))('says whether %s', (flag) => {
    const { [flag as keyof typeof capabilities]: _, ...rest } = capabilities;
    expect(faultsIn(MerchantCreateOrderDto, { ...order, capabilities: rest })[0]).toMatch(`capabilities.${flag}: `);
  });
});

describe('a change', () => {
  test('of an order or a webhook changes something', () => {
    expect(faultsIn(UpdateOrderDto, {})).toEqual([': must have metadata, expiration_minutes, or both']);
    expect(faultsIn(UpdateWebhookDto, {})).toEqual([': must have events, is_enabled, or both']);
    expect(UpdateWebhookDto.safeParse({ is_enabled: false }).success).toBe(true);
  });

  test('of a webhook does not move it', () => {
    expect(UpdateWebhookDto.safeParse({ url: 'https://elsewhere.test', is_enabled: true }).success).toBe(false);
  });
});

test('a webhook names each of its events once, and at least one', () => {
  const url = 'https://shop.test/hooks';
  expect(CreateWebhookDto.safeParse({ url, events: ['order:paid', 'order:created'] }).success).toBe(true);
  for (const events of [[], ['order:paid', 'order:paid'], ['order:eaten']]) {
    expect(CreateWebhookDto.safeParse({ url, events }).success).toBe(false);
  }
});

describe('a merchant', () => {
  const business = {
    type: 'business',
    external_reference_id: 'm-1',
    business_profile: { business_name: 'Shop', contact_email: 'shop@shop.test' },
    payment_methods: [{ type: 'crypto_deposit', supported_currencies: ['USDT'], deposit_instructions: {} }],
    metadata: {},
  };
  const individual_profile = { first_name: 'Ana', last_name: 'Ruiz', email: 'ana@shop.test' };

  test('has the profile of its type', () => {
    expect(CreateMerchantDto.safeParse(business).success).toBe(true);
    expect(faultsIn(CreateMerchantDto, { ...business, type: 'individual' })).toEqual([
      'individual_profile: is required when type is individual',
      'business_profile: is not allowed when type is individual',
    ]);
    expect(faultsIn(CreateMerchantDto, { ...business, individual_profile })).toEqual([
      'individual_profile: is not allowed when type is business',
    ]);
  });
});
