import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CreateMerchantDto } from '@cpg/contracts';
import { createPool, type Pool, testDatabase } from '@cpg/postgres';
import { createAuthenticator } from '../keys/authenticator.ts';
import { verifySecret } from '../keys/hash.ts';
import { migrateGateway } from '../migrations.ts';
import { credentialByKid } from '../queries/credentials.ts';
import { merchantById } from '../queries/merchants.ts';
import { log } from '../testing/jest-gateway.ts';
import { runCommand } from './command-line.ts';
import { changeMerchant } from './merchants.ts';

const PEPPER = 'pepper of the tests, thirty-two characters';
const HOUR = 3_600_000;

const DEFINITION: CreateMerchantDto = {
  type: 'business',
  external_reference_id: 'crm-1',
  business_profile: {
    business_name: 'La Fonda',
    contact_email: 'hola@lafonda.example',
    address: { street: 'Calle 1', city: 'Puebla', state: 'PUE', postal_code: '72000', country: 'MX' },
  },
  payment_methods: [{ type: 'crypto_deposit', supported_currencies: ['USDC'], deposit_instructions: {} }],
  metadata: {},
};

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let folder: string;
let clock: Date;

beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'admin-test', log });
  await migrateGateway(pool);
  folder = await mkdtemp(join(tmpdir(), 'gateway-admin-'));
});
afterAll(async () => {
  await pool.end();
  await database.drop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  clock = new Date('2026-01-31T12:00:00Z');
  await pool.query('truncate gateway.merchants cascade');
});

const run = (...args: string[]) => runCommand(args, { pool, pepper: PEPPER, environment: 'live', now: () => clock });
const fileOf = async (content: unknown): Promise<string> => {
  const path = join(folder, 'input.json');
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const createMerchant = async (more = {}) =>
  JSON.parse(await run('merchants', 'create', '--file', await fileOf({ ...DEFINITION, ...more }))) as { id: string };
const createKey = async (...options: string[]) => {
  const { id } = await createMerchant();
  const [key = ''] = (await run('keys', 'create', id, '--scopes', 'all', ...options)).split('\n');
  return { id, key, kid: key.slice('ak_live_'.length).slice(0, 12) };
};
/** Runs a statement in a transaction that ends when what comes back is called. */
const hold = async (statement: string, id: string) => {
  const session = await pool.connect();
  await session.query('begin');
  await session.query(statement, [id]);
  return async () => {
    await session.query('commit');
    session.release();
  };
};
/** Resolves once so many statements wait for a lock. */
const waiting = async (count: number) => {
  const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  while ((await pool.query(locked)).rowCount !== count) await sleep(5);
};
const isGood = async (key: string, from = '127.0.0.1') =>
  (await createAuthenticator({
    environment: 'live',
    verify: (secret, kept) => verifySecret(secret, kept, PEPPER),
    find: (kid) => credentialByKid(pool, kid),
    onUse: () => {},
    now: () => clock,
  }).authenticate(key, from)) !== null;

test('a merchant is created, listed and changed field by field', async () => {
  const { id } = await createMerchant();
  expect(id).toMatch(/^mer_/);
  expect(await run('merchants', 'list')).toMatch(
    new RegExp(`^ID .*\\n${id}  crm-1 +business  La Fonda +2026-01-31T12:00:00.000Z$`),
  );
  clock = new Date('2026-02-01T00:00:00Z');
  const changes = await fileOf({
    external_reference_id: 'crm-2',
    business_profile: { business_name: 'Fonda 2', contact_email: 'a@b.example' },
  });
  const changed = JSON.parse(await run('merchants', 'update', id, '--file', changes));
  expect(changed).toMatchObject({
    id,
    external_reference_id: 'crm-2',
    payment_methods: DEFINITION.payment_methods,
    created_at: '2026-01-31T12:00:00.000Z',
    updated_at: '2026-02-01T00:00:00.000Z',
  });
  const individual = await fileOf({
    type: 'individual',
    business_profile: null,
    individual_profile: { first_name: 'Ada', last_name: 'Byron', email: 'ada@shop.example' },
  });
  expect(JSON.parse(await run('merchants', 'update', id, '--file', individual))).not.toHaveProperty('business_profile');
});

test('of two changes at once none is lost', async () => {
  const { id } = await createMerchant();
  const payment_methods = [{ type: 'gateway_pay', supported_currencies: ['USDC'], deposit_instructions: {} }];
  const letGo = await hold('select from gateway.merchants where id = $1 for update', id);
  const changes = [
    changeMerchant(pool, id, { payment_methods }, clock),
    changeMerchant(pool, id, { external_reference_id: 'crm-2' }, clock),
  ];
  await waiting(2);
  await letGo();
  await Promise.all(changes);
  expect((await merchantById(pool, id))?.resource).toMatchObject({ payment_methods, external_reference_id: 'crm-2' });
});

test.each([
  [{ type: 'individual' }, /individual_profile: is required when type is individual/],
  [{ payment_methods: [] }, /payment_methods/],
  [
    { payment_methods: [DEFINITION.payment_methods[0], DEFINITION.payment_methods[0]] },
    /payment_methods.1.type: crypto_deposit is there already/,
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
])('a definition with %j is refused, naming the fault', async (more, message) => {
  await expect(createMerchant(more)).rejects.toThrow(message);
  expect(await run('merchants', 'list')).toMatch(/no merchants yet/);
});

test('a reference belongs to one merchant', async () => {
  await createMerchant();
  const { id } = await createMerchant({ external_reference_id: 'crm-9' });
  await expect(createMerchant()).rejects.toThrow(/crm-1 exists already/);
  await expect(
    run('merchants', 'update', id, '--file', await fileOf({ external_reference_id: 'crm-1' })),
  ).rejects.toThrow(/another merchant has/);
});

test('a key is shown once, works, and is listed without its secret', async () => {
  const { id, key, kid } = await createKey();
  expect(await isGood(key)).toBe(true);
  const list = await run('keys', 'list', id);
  expect(list).toContain(kid);
  expect(list).toContain('orders:self:create');
  expect(list).not.toContain(key.slice(20));
});

test('a key may be bound to addresses and expire', async () => {
  const { id, key } = await createKey('--allow-ip', '10.0.0.0/8', '--expires', '2026-01-31T13:00:00Z');
  expect([await isGood(key), await isGood(key, '10.1.1.1')]).toEqual([false, true]);
  clock = new Date(clock.getTime() + HOUR);
  expect(await isGood(key, '10.1.1.1')).toBe(false);
  expect(await run('keys', 'list', id)).toMatch(/expired/);
});

test('the old key works on for the overlap of a rotation, and no longer than it would have', async () => {
  const { id, key, kid } = await createKey('--expires', '2026-01-31T18:00:00Z');
  const [fresh = ''] = (await run('keys', 'rotate', kid, '--overlap', '2h')).split('\n');
  expect([await isGood(key), await isGood(fresh)]).toEqual([true, true]);
  expect(await run('keys', 'list', id)).toMatch(/active +2 /);
  clock = new Date(clock.getTime() + 2 * HOUR);
  expect([await isGood(key), await isGood(fresh)]).toEqual([false, true]);
  clock = new Date(clock.getTime() + 4 * HOUR);
  expect(await isGood(fresh)).toBe(false);
});

test('a revoked key works no more, and is neither revoked nor rotated again', async () => {
  const { key, kid } = await createKey();
  expect(await run('keys', 'revoke', kid)).toBe(`key ${kid} is revoked`);
  expect(await isGood(key)).toBe(false);
  await expect(run('keys', 'revoke', kid)).rejects.toThrow(/revoked already/);
  await expect(run('keys', 'rotate', kid)).rejects.toThrow(/is revoked/);
});

test('a key is rotated once, for its own end became that of the overlap; the one that took its place may be', async () => {
  const { id, kid } = await createKey();
  const rotations = await Promise.allSettled([1, 2].map(() => run('keys', 'rotate', kid)));
  expect(rotations.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(run('keys', 'rotate', kid)).rejects.toThrow(/was rotated already/);
  const successor = /^(\S{12}) .* 2 /m.exec(await run('keys', 'list', id))![1]!;
  const [fresh = ''] = (await run('keys', 'rotate', successor)).split('\n');
  clock = new Date(clock.getTime() + 48 * HOUR);
  expect(await isGood(fresh)).toBe(true);
});

test('a key that has expired is not rotated: the new one would have, too', async () => {
  const { kid } = await createKey('--expires', '2026-01-31T13:00:00Z');
  clock = new Date(clock.getTime() + HOUR);
  await expect(run('keys', 'rotate', kid)).rejects.toThrow(/has expired/);
});

test('a key that is revoked while it is being rotated has no successor', async () => {
  const { id, kid } = await createKey();
  const revoke = await hold("update gateway.api_keys set status = 'revoked' where kid = $1", kid);
  const rotation = run('keys', 'rotate', kid);
  await waiting(1);
  await revoke();
  await expect(rotation).rejects.toThrow(/is revoked/);
  expect(await run('keys', 'list', id)).not.toMatch(/active/);
});

test.each([
  [[], /Merchants and their API keys/],
  [['keys', 'burn'], /Merchants and their API keys/],
  [['keys', 'list'], /takes one MERCHANT/],
  [['merchants', 'list', 'x'], /takes nothing more/],
  [['merchants', 'create'], /--file is missing/],
  [['merchants', 'create', '--file', '/nowhere.json'], /cannot read/],
  [['keys', 'create', 'mer_1', '--scopes', 'all'], /there is no merchant mer_1/],
  [['keys', 'create', 'mer_1'], /--scopes is missing/],
  [['keys', 'list', 'mer_1'], /there is no merchant mer_1/],
  [['keys', 'revoke', 'abc'], /there is no key abc/],
  [['keys', 'rotate', 'abc'], /there is no key abc/],
  [['keys', 'rotate', 'abc', '--overlap', 'long'], /not a span/],
  [['keys', 'list', '--colour', 'red'], /--colour/],
])('%j says what is wrong', async (args, message) => {
  await expect(run(...args)).rejects.toThrow(message);
});

test.each([
  [['--scopes', 'orders:self:create,orders:burn'], /no such scope: orders:burn/],
  [['--scopes', ','], /no such scope/],
  [['--scopes', 'all', '--allow-ip', '10.0.0.0/40'], /not an IP address/],
  [['--scopes', 'all', '--expires', '2026-01-31'], /not an instant/],
  [['--scopes', 'all', '--expires', '2025-01-31T00:00:00Z'], /is past/],
])('keys create %j says what is wrong', async (options, message) => {
  const { id } = await createMerchant();
  await expect(run('keys', 'create', id, ...options)).rejects.toThrow(message);
});
