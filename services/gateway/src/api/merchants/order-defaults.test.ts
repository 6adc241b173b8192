import {
  type CompleteDefaults,
  exampleOf,
  invalidRequest,
  MerchantCreateOrderDto,
  type OrderDefaults,
  PaymentCurrency,
  type PaymentMethod,
  PaymentRail,
} from '@cpg/contracts';
import fc from 'fast-check';
import { completeOrder, defaultFaults, withMissingFields } from './order-defaults.ts';

const { enable_rails, payment_currency, capabilities, ...REST } = exampleOf(MerchantCreateOrderDto);
const FULL = { enable_rails, payment_currency, capabilities } as CompleteDefaults;
const METHODS: PaymentMethod[] = PaymentRail.options.map((type) => ({
  type,
  supported_currencies: PaymentCurrency.options,
  deposit_instructions: {},
}));

const flags = fc.record(
  Object.fromEntries(Object.keys(FULL.capabilities).map((name) => [name, fc.boolean()])),
) as unknown as fc.Arbitrary<CompleteDefaults['capabilities']>;
const some = fc.record(
  {
    enable_rails: fc.subarray([...PaymentRail.options], { minLength: 1 }),
    payment_currency: fc.constantFrom(...PaymentCurrency.options),
    capabilities: flags,
  },
  { requiredKeys: [] },
);

test('a field of the request counts, else its default, and a field without both is named', () => {
  fc.assert(
    fc.property(some, some, (given, defaults) => {
      const { order, refusal } = completeOrder({ ...REST, ...given }, { defaults, methods: METHODS });
      const wanted = { ...REST, ...defaults, ...given };
      expect(order).toEqual(wanted);
      const missing = Object.keys(FULL).filter((field) => !(field in wanted));
      expect(refusal?.details.map(({ path }) => path) ?? []).toEqual(missing);
    }),
  );
});

test('a refusal for want of a field names both ways out', () => {
  const { refusal } = completeOrder(
    { ...REST, ...FULL, payment_currency: undefined },
    { defaults: {}, methods: METHODS },
  );
  expect(refusal).toMatchObject({ code: 'invalid_request', details: [{ path: 'payment_currency' }] });
  expect(refusal?.message).toMatch(/send it, or set it in `order_defaults` with PATCH \/v1\/merchants\/me/);
});

test.each<[string, unknown, string[]]>([
  ['nothing of them', {}, ['items', 'enable_rails', 'capabilities']],
  ['one of them', { enable_rails: 'gateway_pay' }, ['items', 'capabilities']],
  ['no object', [], ['items']],
  ['no body', undefined, ['items']],
])('the fault of a request with %s names what has no default', (_, body, paths) => {
  const fault = withMissingFields(invalidRequest([{ path: 'items', message: 'is required' }]), body, {
    payment_currency: 'USDC',
  });
  expect(fault).toMatchObject({ code: 'invalid_request', details: paths.map((path) => ({ path })) });
});

test('a refusal of what a default says names the default', () => {
  const methods: PaymentMethod[] = [{ ...METHODS[0]!, type: 'crypto_deposit', supported_currencies: ['BTC'] }];
  const messageOf = (request: object) =>
    completeOrder({ ...REST, ...request }, { defaults: FULL, methods }).refusal?.details[0]?.message;
  expect(messageOf({})).toMatch(/does not take USDC for you: it takes BTC\. This uses your `order_defaults`/);
  expect(messageOf(FULL)).toBe('crypto_deposit does not take USDC for you: it takes BTC');
  expect(messageOf({ payment_currency: 'BTC' })).toBeUndefined();
});

test.each<[string, OrderDefaults, string[]]>([
  ['rail', { enable_rails: ['gateway_pay'] }, ['order_defaults.enable_rails.0']],
  [
    'currency of a rail',
    { enable_rails: ['crypto_deposit'], payment_currency: 'ETH' },
    ['order_defaults.enable_rails.0', 'order_defaults.payment_currency'],
  ],
  ['currency', { payment_currency: 'ETH' }, ['order_defaults.payment_currency']],
  ['fault', { enable_rails: ['crypto_deposit'], payment_currency: 'BTC' }, []],
  ['fault in one of two', { enable_rails: ['crypto_deposit'] }, []],
])('defaults with a %s that the merchant does not accept are refused', (_, defaults, paths) => {
  const methods: PaymentMethod[] = [
    { type: 'crypto_deposit', supported_currencies: ['BTC', 'USDC'], deposit_instructions: {} },
  ];
  expect(defaultFaults(defaults, methods).map(({ path }) => path)).toEqual(paths);
});
