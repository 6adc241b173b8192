import { merchantById } from '../api/merchants/merchant-queries.ts';
import { DEFINITION, startAdmin, type TestAdmin } from '../testing/jest-admin.ts';
import { updateMerchant } from './merchants.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
beforeEach(() => admin.reset());

test('creates, lists and updates a merchant', async () => {
  const { id } = await admin.createMerchant();
  expect(id).toMatch(/^mer_/);
  expect(await admin.run('merchants', 'list')).toMatch(
    new RegExp(`^ID .*\\n${id}  crm-1 +business  La Fonda +active +2026-01-31T12:00:00.000Z$`),
  );
  admin.clock = new Date('2026-02-01T00:00:00Z');
  const changes = await admin.fileWith({
    external_reference_id: 'crm-2',
    business_profile: { business_name: 'Fonda 2', contact_email: 'a@b.example' },
  });
  const changed = JSON.parse(await admin.run('merchants', 'update', id, '--file', changes));
  expect(changed).toMatchObject({
    id,
    external_reference_id: 'crm-2',
    payment_methods: DEFINITION.payment_methods,
    created_at: '2026-01-31T12:00:00.000Z',
    updated_at: '2026-02-01T00:00:00.000Z',
  });
  const individual = await admin.fileWith({
    type: 'individual',
    business_profile: null,
    individual_profile: { first_name: 'Ada', last_name: 'Byron', email: 'ada@shop.example' },
  });
  expect(JSON.parse(await admin.run('merchants', 'update', id, '--file', individual))).not.toHaveProperty(
    'business_profile',
  );
});

test('the defaults of orders are set with the merchant, checked, and removed by null', async () => {
  const order_defaults = { payment_currency: 'USDC' };
  const { id } = await admin.createMerchant({ order_defaults });
  const shown = async () => JSON.parse(await admin.run('merchants', 'show', id));
  expect(await shown()).toMatchObject({ order_defaults });
  const update = async (changes: object) =>
    admin.run('merchants', 'update', id, '--file', await admin.fileWith(changes));
  await expect(update({ order_defaults: { payment_currency: 'ETH' } })).rejects.toThrow(
    /order_defaults.payment_currency: none of your payment methods takes ETH/,
  );
  // The payment methods may change under a default: creates then say what to change.
  const btc = { type: 'crypto_deposit', supported_currencies: ['BTC'], deposit_instructions: {} };
  await update({ payment_methods: [btc] });
  expect(await shown()).toMatchObject({ order_defaults, payment_methods: [btc] });
  await update({ order_defaults: null });
  expect(await shown()).toMatchObject({ order_defaults: {} });
});

test('concurrent updates are both applied', async () => {
  const { id } = await admin.createMerchant();
  const payment_methods = [{ type: 'gateway_pay', supported_currencies: ['USDC'], deposit_instructions: {} }];
  const commit = await admin.begin('select from gateway.merchants where id = $1 for update', id);
  const changes = [
    updateMerchant(admin.pool, id, { payment_methods }, admin.clock),
    updateMerchant(admin.pool, id, { external_reference_id: 'crm-2' }, admin.clock),
  ];
  await admin.lockWaits(2);
  await commit();
  await Promise.all(changes);
  expect((await merchantById(admin.pool, id))?.resource).toMatchObject({
    payment_methods,
    external_reference_id: 'crm-2',
  });
});

test.each([
  [{ type: 'individual' }, /individual_profile: is required when type is individual/],
  [{ payment_methods: [] }, /payment_methods/],
  [
    { payment_methods: [DEFINITION.payment_methods[0], DEFINITION.payment_methods[0]] },
    /payment_methods.1.type: crypto_deposit is listed twice/,
  ],
  [{ surprise: 1 }, /surprise: is not a known field/],
  [
    {
      business_profile: {
        ...DEFINITION.business_profile,
        address: { ...DEFINITION.business_profile?.address, country: 'XX' },
      },
    },
    /address.country: XX is not an ISO 3166-1/,
  ],
])('refuses a definition with %j and reports the field', async (overrides, message) => {
  await expect(admin.createMerchant(overrides)).rejects.toThrow(message);
  expect(await admin.run('merchants', 'list')).toMatch(/no merchants yet/);
});

test('an external reference is unique', async () => {
  await admin.createMerchant();
  const { id } = await admin.createMerchant({ external_reference_id: 'crm-9' });
  await expect(admin.createMerchant()).rejects.toThrow(/crm-1 already exists/);
  await expect(
    admin.run('merchants', 'update', id, '--file', await admin.fileWith({ external_reference_id: 'crm-1' })),
  ).rejects.toThrow(/another merchant has/);
});

test('disables and enables a merchant, and keeps who decided it and why', async () => {
  const { id } = await admin.createMerchant();
  const disable = (reason: string) => admin.run('merchants', 'disable', id, '--by', 'Ana', '--reason', reason);
  expect(await disable('ticket 7')).toBe(`merchant ${id} is disabled`);
  await expect(disable('again')).rejects.toThrow(`merchant ${id} is already disabled`);
  expect(await admin.run('merchants', 'list')).toContain(' disabled ');
  admin.clock = new Date('2026-02-01T00:00:00Z');
  await admin.run('merchants', 'enable', id, '--by', 'Ben', '--reason', 'paid');
  const shown = JSON.parse(await admin.run('merchants', 'show', id)) as object;
  expect(shown).toMatchObject({ id, external_reference_id: 'crm-1', metadata: {}, status: 'active' });
  expect(shown).toMatchObject({
    status_changes: [
      { status: 'disabled', at: '2026-01-31T12:00:00.000Z', by: 'Ana', reason: 'ticket 7' },
      { status: 'active', at: '2026-02-01T00:00:00.000Z', by: 'Ben', reason: 'paid' },
    ],
  });
});

test('a decision on a merchant needs a merchant, a person and a reason', async () => {
  const { id } = await admin.createMerchant();
  const who = ['--by', 'Ana', '--reason', 'x'];
  await expect(admin.run('merchants', 'disable', 'mer_0', ...who)).rejects.toThrow('there is no merchant mer_0');
  await expect(admin.run('merchants', 'disable', id, '--by', 'Ana')).rejects.toThrow("'--reason <text>' not specified");
  await expect(admin.run('merchants', 'disable', id, '--by', ' ', '--reason', 'x')).rejects.toThrow('is empty');
});

test('what operators change is recorded, with who it was', async () => {
  const { id, kid } = await admin.createKey();
  const change = { external_reference_id: 'crm-2', order_defaults: { payment_currency: 'USDC' }, metadata: { a: 'b' } };
  await admin.run('merchants', 'update', id, '--file', await admin.fileWith(change));
  await admin.run('keys', 'revoke', kid);
  await admin.run('users', 'create', id, '--email', 'ada@shop.example', '--role', 'owner');
  await admin.run('merchants', 'disable', id, '--by', 'user:Ana', '--reason', 'ticket 7');
  const { rows } = await admin.pool.query(
    `select type, actor, data -> 'changes' as changes from gateway.merchant_events order by sequence`,
  );
  expect(rows.map(({ type, actor }) => [type, actor])).toEqual([
    ['MerchantCreated', 'operator'],
    ['ApiKeyCreated', 'operator'],
    ['MerchantChanged', 'operator'],
    ['OrderDefaultsChanged', 'operator'],
    ['ApiKeyRevoked', 'operator'],
    ['UserInvited', 'operator'],
    ['MerchantDisabled', 'operator:user:Ana'],
  ]);
  expect(rows[2].changes).toEqual({ external_reference_id: { before: 'crm-1', after: 'crm-2' }, metadata: {} });
  expect(rows[3].changes).toEqual({ payment_currency: { before: null, after: 'USDC' } });
});
