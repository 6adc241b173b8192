import { AppError, PaymentCurrency, type PaymentRail } from '@cpg/contracts';
import { errorBody } from '@cpg/platform';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import type { TestMerchant } from '../../testing/jest-merchant.ts';
import { availabilityOf, orderBody, paymentsResponse } from '../../testing/jest-resources.ts';

let gateway: TestGateway;
let shop: TestMerchant;
beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
});
afterAll(() => gateway.close());

const methods = async () => {
  const { status, body } = await shop.send('GET', '/v1/merchants/me');
  expect(status).toBe(200);
  return (body.payment_methods as { type: string; supported_currencies: string[] }[]).map(
    ({ type, supported_currencies }) => [type, supported_currencies],
  );
};
const answerWith = (currencies: Record<PaymentRail, PaymentCurrency[]>) => {
  gateway.payments.respond = ({ path }) =>
    path === '/availability' ? { status: 200, body: availabilityOf(currencies) } : { status: 404 };
};

test('the payment methods leave out what no read network can take', async () => {
  answerWith({ crypto_deposit: [...PaymentCurrency.options], gateway_pay: [...PaymentCurrency.options] });
  const all = await methods();
  expect(all.map(([type]) => type)).toContain('crypto_deposit');
  answerWith({ crypto_deposit: ['USDC'], gateway_pay: [...PaymentCurrency.options] });
  expect(await methods()).toEqual(all.map(([type, each]) => [type, type === 'crypto_deposit' ? ['USDC'] : each]));
  answerWith({ crypto_deposit: [], gateway_pay: [] });
  expect(await methods()).toEqual([]);
});

test('while payments cannot say it, the payment methods are those that the operator set', async () => {
  const error = new AppError('dependency_unavailable', 'payments is unavailable');
  gateway.payments.respond = () => ({ status: error.statusCode, body: errorBody(error, 'req_1') });
  expect((await methods()).length).toBeGreaterThan(0);
});

describe('defaults of orders', () => {
  beforeAll(() => {
    gateway.payments.respond = paymentsResponse;
  });
  const patch = (order_defaults: object) => shop.send('PATCH', '/v1/merchants/me', { order_defaults });
  const CAPABILITIES = orderBody().capabilities!;

  test('are set, shown, replaced as a whole, and removed', async () => {
    expect((await shop.send('GET', '/v1/merchants/me')).body.order_defaults).toEqual({});
    const first = await patch({ enable_rails: ['crypto_deposit'], payment_currency: 'BTC' });
    expect(first).toMatchObject({
      status: 200,
      body: { id: shop.id, order_defaults: { enable_rails: ['crypto_deposit'], payment_currency: 'BTC' } },
    });
    expect(first.body.updated_at).toBeDefined();
    const second = await patch({ capabilities: CAPABILITIES });
    expect(second.body.order_defaults).toEqual({ capabilities: CAPABILITIES });
    expect((await shop.send('GET', '/v1/merchants/me')).body.order_defaults).toEqual({ capabilities: CAPABILITIES });
    expect((await patch({})).body.order_defaults).toEqual({});
  });

  test.each([
    ['a currency that no rail of the merchant takes', { payment_currency: 'ETH' }, 'order_defaults.payment_currency'],
    [
      'a rail that does not take it',
      { enable_rails: ['gateway_pay'], payment_currency: 'BTC' },
      'order_defaults.enable_rails.0',
    ],
    ['a rail twice', { enable_rails: ['gateway_pay', 'gateway_pay'] }, 'order_defaults.enable_rails'],
    ['a part of the capabilities', { capabilities: { can_cancel: true } }, 'order_defaults.capabilities.can_update'],
    ['an unknown name', { expiration_minutes: 5 }, 'order_defaults.expiration_minutes'],
  ])('with %s are refused, and nothing changes', async (_, defaults, path) => {
    const { status, body } = await patch(defaults);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect((await shop.send('GET', '/v1/merchants/me')).body.order_defaults).toEqual({});
  });

  describe('in a create', () => {
    const { enable_rails: _, payment_currency: __, capabilities: ___, ...SHORT } = orderBody();
    const create = (body: object, headers = {}) => shop.send('POST', '/v1/orders', body, headers);
    const sent = () => gateway.orders.calls.at(-1)!.body as unknown as { order: object; only_repeat?: boolean };
    const DEFAULTS = { enable_rails: ['crypto_deposit'], payment_currency: 'BTC', capabilities: CAPABILITIES };
    beforeEach(() => patch(DEFAULTS));
    afterAll(() => patch({}));

    test('fill in what it leaves out, right after a change, and give way to what it has', async () => {
      expect((await create(SHORT)).status).toBe(201);
      expect(sent().order).toEqual({
        ...SHORT,
        enable_rails: ['crypto_deposit'],
        payment_currency: 'BTC',
        capabilities: CAPABILITIES,
      });
      await patch({ ...DEFAULTS, payment_currency: 'USDC' });
      expect((await create({ ...SHORT, enable_rails: ['gateway_pay'] })).status).toBe(201);
      expect(sent().order).toMatchObject({ enable_rails: ['gateway_pay'], payment_currency: 'USDC' });
      expect((await create(orderBody())).status).toBe(201);
      expect(sent().order).toEqual(orderBody());
    });

    test('that were removed are named, and a repeat with its key still gets its order', async () => {
      await create(SHORT, { 'idempotency-key': 'cart-1' });
      const first = sent();
      await patch({ enable_rails: ['crypto_deposit'], capabilities: CAPABILITIES });
      const count = gateway.orders.calls.length;
      const refused = await create(SHORT);
      expect(refused.body).toMatchObject({ code: 'invalid_request', details: [{ path: 'payment_currency' }] });
      expect(gateway.orders.calls).toHaveLength(count);
      // Orders decides by key and fingerprint, and creates nothing.
      expect((await create(SHORT, { 'idempotency-key': 'cart-1' })).status).toBe(201);
      const { order: _, ...repeat } = sent();
      const { order: __, ...before } = first;
      expect(repeat).toEqual({ ...before, only_repeat: true });
    });
  });
});

describe('the profile', () => {
  let owner: TestMerchant;
  beforeEach(async () => {
    owner = await gateway.merchant();
  });
  const patch = (body: object) => owner.send('PATCH', '/v1/merchants/me', body);
  const profile = async () => (await owner.send('GET', '/v1/merchants/me')).body.individual_profile;
  const log = async () => (await owner.send('GET', '/v1/merchants/me/audit-log')).body.items;
  const ADA = { first_name: 'Ada', last_name: 'Byron', email: 'ada@shop.example' };

  test('keeps the fields that a change leaves out, and loses those that are null', async () => {
    const { status, body } = await patch({ individual_profile: { phone: '+52 55 5555 0101' } });
    expect([status, body.individual_profile]).toEqual([200, { ...ADA, phone: '+52 55 5555 0101' }]);
    await patch({ individual_profile: { last_name: 'Lovelace', phone: null } });
    expect(await profile()).toEqual({ ...ADA, last_name: 'Lovelace' });
  });

  test('keeps both of two changes that are made at once', async () => {
    const answers = await Promise.all([
      patch({ individual_profile: { email: 'new@shop.example' } }),
      patch({ individual_profile: { phone: '+1' } }),
      patch({ order_defaults: { payment_currency: 'BTC' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await owner.send('GET', '/v1/merchants/me');
    expect(body).toMatchObject({
      individual_profile: { ...ADA, email: 'new@shop.example', phone: '+1' },
      order_defaults: { payment_currency: 'BTC' },
    });
  });

  test('is in the audit log with its actor, without the personal values, and only if it differs', async () => {
    const { body } = await patch({ individual_profile: ADA });
    expect(body).not.toHaveProperty('updated_at');
    expect(await log()).toEqual([]);
    await patch({ individual_profile: { email: 'new@shop.example' } });
    expect(await log()).toMatchObject([
      {
        type: 'MerchantChanged',
        subject: owner.id,
        actor: expect.stringMatching(/^key:/),
        changes: [{ field: 'individual_profile' }],
      },
    ]);
    expect(JSON.stringify(await log())).not.toContain('shop.example');
  });

  test.each<[string, object, string]>([
    ['nothing', {}, 'body'],
    ['the profile of the other type', { business_profile: { business_name: 'X' } }, 'business_profile'],
    ['a name that is removed', { individual_profile: { first_name: null } }, 'individual_profile.first_name'],
    ['a name of two lines', { individual_profile: { first_name: 'A\nB' } }, 'individual_profile.first_name'],
    [
      'a name of more than 60 characters',
      { individual_profile: { last_name: 'x'.repeat(61) } },
      'individual_profile.last_name',
    ],
    ['no email address', { individual_profile: { email: 'ada' } }, 'individual_profile.email'],
    ['payment methods', { payment_methods: [] }, 'payment_methods'],
    ['the reference of the operator', { external_reference_id: 'x' }, 'external_reference_id'],
    ['metadata', { metadata: {} }, 'metadata'],
  ])('refuses %s, and changes nothing', async (_, body, path) => {
    const refused = await patch(body);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
    expect(await profile()).toEqual(ADA);
    expect(await log()).toEqual([]);
  });
});
