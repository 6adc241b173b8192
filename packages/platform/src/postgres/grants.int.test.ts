import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import pg from 'pg';
import { databaseClocks } from './clocks.ts';
import { applyGrants, prepareAsOwner, prepareSchema, SERVICE_ROLES } from './migrate.ts';
import { createPool, type Pool, transaction } from './pool.ts';
import { testDatabase } from './testing/database.ts';

type Role = (typeof SERVICE_ROLES)[number];

const SERVICES = join(import.meta.dirname, '../../../../services');
const SCHEMAS = { gateway: 'gateway', orders: 'orders', payments: 'payments', 'webhook-dispatcher': 'webhooks' };
const OWNERS: Record<Role, string> = {
  cpg_gateway: 'gateway',
  cpg_orders: 'orders',
  cpg_payments: 'payments',
  cpg_webhook_dispatcher: 'webhooks',
};

/** The views that each service may read of others. It may read no table of theirs. */
const READS: Record<Role, readonly string[]> = {
  cpg_gateway: [
    'orders.api_order_counts',
    'orders.api_order_metadata',
    'orders.api_orders',
    'payments.api_chains',
    'payments.api_payables',
    'payments.api_payment_counts',
    'payments.api_payments',
    'payments.api_postings',
    'payments.api_refund_counts',
    'payments.api_refunds',
    'payments.api_transfers',
    'payments.newest_blocks',
    'webhooks.api_attempts',
    'webhooks.api_deliveries',
    'webhooks.api_delivery_counts',
    'webhooks.api_order_deliveries',
    'webhooks.api_replays',
  ],
  cpg_orders: ['gateway.merchant_ids', 'gateway.newest_clock_confirmation', 'payments.newest_blocks'],
  cpg_payments: ['gateway.merchant_ids', 'gateway.newest_clock_confirmation'],
  cpg_webhook_dispatcher: ['gateway.newest_clock_confirmation', 'gateway.webhook_endpoints', 'payments.newest_blocks'],
};

const log = createLogger({ name: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof testDatabase>>;
let superuser: pg.Client;
let owner: Pool;
let tables: string[];
let views: string[];
const roles = {} as Record<Role, Pool>;

const schemaOf = (service: keyof typeof SCHEMAS) =>
  ({ schema: SCHEMAS[service], folder: join(SERVICES, service, 'migrations'), environment: 'sandbox' }) as const;
const openAs = (user: string) => {
  const url = new URL(database.url);
  url.username = user;
  url.password = 'secret';
  return createPool({ url: url.toString(), name: user, max: 1, log });
};
const codeOf = (pool: Pool, statement: string) =>
  transaction(pool, async (db) => {
    await db.query(statement);
    return 'allowed';
  }).catch(({ code }: { code?: string }) => code);

beforeAll(async () => {
  database = await testDatabase();
  superuser = new pg.Client({ connectionString: database.url });
  await superuser.connect();
  // Roles belong to the whole server, and the owner of a schema need not be a superuser.
  const created = ['cpg_owner', ...SERVICE_ROLES].map((role) => `create role ${role} login password 'secret'`);
  await superuser.query(created.join(';'));
  await superuser.query(`alter database ${new URL(database.url).pathname.slice(1)} owner to cpg_owner`);
  owner = openAs('cpg_owner');
  for (const role of SERVICE_ROLES) roles[role] = openAs(role);
  for (const service of Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[])
    await prepareAsOwner(owner, schemaOf(service));
  const relations = async (kinds: string) => {
    const { rows } = await superuser.query<{ name: string }>(
      `select relnamespace::regnamespace || '.' || relname as name from pg_class
        where relkind = any($1::"char"[]) and relnamespace::regnamespace::text = any($2) order by 1`,
      [kinds, Object.values(SCHEMAS)],
    );
    return rows.map(({ name }) => name);
  };
  tables = await relations('{r,p}');
  views = await relations('{v}');
});
afterAll(async () => {
  await Promise.all([owner, ...Object.values(roles)].map((pool) => pool.end()));
  // The roles stay: files that run beside this one may have granted them something.
  await superuser.end();
  await database.drop();
});

describe.each(SERVICE_ROLES)('%s', (role) => {
  const own = OWNERS[role];
  const isOwn = (table: string) => table.startsWith(`${own}.`);
  // The last one is for auditors: rows are only added.
  const isGuarded = (table: string) => /\.(migrations|environment_stamp|merchant_events)$/.test(table);

  test('reads and writes the tables of its service', async () => {
    const writable = tables.filter((table) => isOwn(table) && !isGuarded(table));
    expect(writable.length).toBeGreaterThan(3);
    for (const table of tables.filter(isOwn)) {
      expect([table, await codeOf(roles[role], `select from ${table} limit 1`)]).toEqual([table, 'allowed']);
      const written = isGuarded(table) ? '42501' : 'allowed';
      expect([table, await codeOf(roles[role], `delete from ${table} where false`)]).toEqual([table, written]);
    }
    const { rows } = await superuser.query<{ refused: string }>(
      `select name as refused from unnest($1::text[]) as name
        where not has_table_privilege($2, name, 'insert') or not has_table_privilege($2, name, 'update')`,
      [writable, role],
    );
    expect(rows).toEqual([]);
  });

  test('reads of other services only their published views, and writes nothing of theirs', async () => {
    const others = [...tables, ...views].filter((name) => !isOwn(name));
    const readable: string[] = [];
    for (const name of others) {
      if ((await codeOf(roles[role], `select from ${name} limit 1`)) === 'allowed') readable.push(name);
      // PostgreSQL refuses to write to some views for other reasons.
      expect([name, await codeOf(roles[role], `delete from ${name} where false`)]).toEqual([
        name,
        expect.stringMatching(/^(42501|55000)$/),
      ]);
    }
    expect(readable).toEqual(READS[role]);
    const { rows } = await superuser.query<{ name: string }>(
      `select name from unnest($1::text[]) as name
        where has_any_column_privilege($2, name, 'select') and name <> all ($3)
          or has_any_column_privilege($2, name, 'insert, update') or has_table_privilege($2, name, 'delete, truncate')`,
      [others, role, READS[role]],
    );
    expect(rows).toEqual([]);
  });

  test('creates, changes and drops no table and no schema', async () => {
    const [table] = tables.filter(isOwn);
    for (const statement of [
      `create table ${own}.another (id int)`,
      `create schema another`,
      `alter table ${table} add column another int`,
      `drop table ${table}`,
      `drop schema ${own} cascade`,
    ])
      expect([statement, await codeOf(roles[role], statement)]).toEqual([statement, '42501']);
  });

  test('finds its schema prepared', async () => {
    const service = (Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[]).find((name) => SCHEMAS[name] === own)!;
    await prepareSchema(roles[role], schemaOf(service));
  });

  test('reads every clock', async () => {
    const { clocks, readConfirmation } = databaseClocks(roles[role]);
    const read = { now: () => new Date(), steadyMs: () => performance.now() };
    for (const clock of clocks) await clock.read(read);
    expect(await readConfirmation!(read)).toBeNull();
  });
});

test('the dispatcher alone disables webhooks and keeps them from changing, and changes nothing else of them', async () => {
  const dispatcher = roles.cpg_webhook_dispatcher;
  for (const call of [
    "gateway.lock_webhooks('{none}')",
    "gateway.disable_webhooks('{none}', '{none}', 'failing', now()::text)",
  ]) {
    expect(await codeOf(dispatcher, `select ${call}`)).toBe('allowed');
    expect(await codeOf(roles.cpg_orders, `select ${call}`)).toBe('42501');
  }
  expect(await codeOf(dispatcher, "update gateway.webhook_endpoints set url = 'https://example.com'")).toBe('42501');
});

test('the gateway alone records changes of merchants', async () => {
  // The merchant does not exist, so the foreign key refuses the row.
  const record = `select gateway.record_merchant_event('evt_1', 'WebhookDeleted', 'key:1', null,
    '{"merchantId": "mer_1", "subject": "whk_1", "at": "2026-01-31T12:00:00.000Z"}')`;
  expect(await codeOf(roles.cpg_gateway, record)).toBe('23503');
  for (const role of ['cpg_orders', 'cpg_payments', 'cpg_webhook_dispatcher'] as const)
    expect(await codeOf(roles[role], record)).toBe('42501');
});

test('the gateway lists deliveries without reading their tables', async () => {
  const list = 'select from webhooks.list_deliveries(array[$$w$$], null, null, null, null, null, null, false, 0, 10)';
  expect(await codeOf(roles.cpg_gateway, list)).toBe('allowed');
  expect(await codeOf(roles.cpg_orders, list)).toBe('42501');
});

test('the dispatcher alone creates and drops partitions of days, and writes to them', async () => {
  const dispatcher = roles.cpg_webhook_dispatcher;
  const [create, drop] = ['create', 'drop'].map(
    (verb) => `select webhooks.${verb}_partition('attempts', '2030-01-31')`,
  );
  expect(await codeOf(roles.cpg_gateway, create!)).toBe('42501');
  expect(await codeOf(dispatcher, create!)).toBe('allowed');
  expect(await codeOf(dispatcher, create!)).toBe('allowed');
  expect(await codeOf(dispatcher, 'delete from webhooks.attempts_20300131')).toBe('allowed');
  expect(await codeOf(roles.cpg_gateway, drop!)).toBe('42501');
  expect(await codeOf(dispatcher, drop!)).toBe('allowed');
  expect(await codeOf(dispatcher, 'select from webhooks.attempts_20300131')).toBe('42P01');
  expect(await codeOf(dispatcher, "select webhooks.drop_partition('queue', '2030-01-31')")).toBe('P0001');
  expect(await codeOf(dispatcher, "select webhooks.create_partition('queue', '2030-01-31')")).toBe('P0001');
});

test('a schema that is not up to date tells its service to let the owner migrate', async () => {
  await superuser.query('begin; delete from orders.migrations; commit');
  const refusal = await prepareSchema(roles.cpg_orders, schemaOf('orders')).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ConfigError);
  expect((refusal as Error).message).toMatch(/schema orders is not up to date.*"admin migrate"/);
});

test('a missing grant for a clock is a wrong setting, not a missing clock', async () => {
  await superuser.query('revoke select on payments.newest_blocks from cpg_orders');
  await superuser.query('revoke select on gateway.newest_clock_confirmation from cpg_orders');
  const { clocks, readConfirmation } = databaseClocks(roles.cpg_orders);
  const chains = clocks.find(({ name }) => name === 'chains')!;
  const own = { now: () => new Date(), steadyMs: () => performance.now() };
  await expect(chains.read(own)).rejects.toThrow(/newest_blocks.*"admin migrate"/);
  expect(chains.isExpected!()).toBe(true);
  await expect(readConfirmation!(own)).rejects.toBeInstanceOf(ConfigError);
});

test('with some of the roles only, nothing is granted', async () => {
  await superuser.query('begin; alter role cpg_payments rename to cpg_renamed');
  await expect(applyGrants(superuser, schemaOf('gateway'))).rejects.toThrow(
    /has the role cpg_gateway, but not cpg_payments: create one role for each service/,
  );
  await superuser.query('rollback');
});
