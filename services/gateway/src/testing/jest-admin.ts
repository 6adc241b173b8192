import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CreateMerchantDto } from '@cpg/contracts';
import { type AdminCommand, type RunWith } from '@cpg/platform/commands';
import { runCommand } from '@cpg/platform/commands/testing';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { addClockCommands } from '../admin/clock.ts';
import { addKeyCommands } from '../admin/key-commands.ts';
import type { KeyAdmin } from '../admin/keys.ts';
import { addMerchantCommands } from '../admin/merchant-commands.ts';
import { addUserCommands } from '../admin/user-commands.ts';
import { createAuthenticator } from '../door/keys/authenticator.ts';
import { verifySecret } from '../door/keys/hash.ts';
import { migrateGateway } from '../migrations.ts';
import { credentialByKid } from '../door/keys/credentials.ts';
import { log } from './jest-gateway.ts';
import { PEPPER } from './jest-merchant.ts';

export const DEFINITION: CreateMerchantDto = {
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

/** The admin commands of a live environment, on their own database. */
export interface TestAdmin {
  readonly pool: Pool;
  /** The time for commands. Reset it with `reset`. */
  clock: Date;
  readonly run: (...args: string[]) => Promise<string>;
  /** Writes an input file for a command and returns its path. */
  readonly fileWith: (content: unknown) => Promise<string>;
  readonly createMerchant: (more?: object) => Promise<{ id: string }>;
  readonly createKey: (...options: string[]) => Promise<{ id: string; key: string; kid: string }>;
  readonly isValid: (key: string, address?: string) => Promise<boolean>;
  /** Runs a statement in a transaction and returns the function that commits it. */
  readonly begin: (statement: string, id: string) => Promise<() => Promise<void>>;
  /** Resolves when `count` statements wait for a lock. */
  readonly lockWaits: (count: number) => Promise<void>;
  /** Deletes all merchants and sets the clock back. */
  readonly reset: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export const startAdmin = async (): Promise<TestAdmin> => {
  const database = await testDatabase();
  const pool = createPool({ url: database.url, name: 'admin-test', log });
  await migrateGateway(pool, 'production');
  const folder = await mkdtemp(join(tmpdir(), 'gateway-admin-'));

  const admin: TestAdmin = {
    pool,
    clock: START,
    run: async (...args) => {
      const withAdmin: RunWith<KeyAdmin> = (work) =>
        work({ pool, pepper: PEPPER, environment: 'live', now: () => admin.clock });
      const add = (program: AdminCommand) => {
        addMerchantCommands(program, withAdmin);
        addKeyCommands(program, withAdmin);
        addUserCommands(program, withAdmin);
        addClockCommands(program, withAdmin);
      };
      return (await runCommand(add, args)).output;
    },
    fileWith: async (content) => {
      const path = join(folder, 'input.json');
      await writeFile(path, JSON.stringify(content));
      return path;
    },
    createMerchant: async (more = {}) => {
      const file = await admin.fileWith({ ...DEFINITION, ...more });
      return JSON.parse(await admin.run('merchants', 'create', '--file', file)) as { id: string };
    },
    createKey: async (...options) => {
      const { id } = await admin.createMerchant();
      const [key = ''] = (await admin.run('keys', 'create', id, '--scopes', 'all', ...options)).split('\n');
      return { id, key, kid: key.slice('ak_live_'.length).slice(0, 12) };
    },
    isValid: async (key, address = '127.0.0.1') => {
      const authenticator = createAuthenticator({
        environment: 'live',
        verify: async (secret, stored) => (await verifySecret(secret, stored, [PEPPER])) !== 'invalid',
        findCredential: (kid) => credentialByKid(pool, kid),
        onUse: () => {},
        now: () => admin.clock,
      });
      return (await authenticator.authenticate(key, address)) !== null;
    },
    begin: (statement, id) => begin(pool, statement, id),
    lockWaits: async (count) => {
      while ((await pool.query(WAITING_FOR_LOCK)).rowCount !== count) await sleep(5);
    },
    reset: async () => {
      admin.clock = START;
      await pool.query('truncate gateway.merchants cascade');
    },
    close: async () => {
      await pool.end();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
  return admin;
};

const START = new Date('2026-01-31T12:00:00Z');

const WAITING_FOR_LOCK = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

const begin = async (pool: Pool, statement: string, id: string): Promise<() => Promise<void>> => {
  const session = await pool.connect();
  await session.query('begin');
  await session.query(statement, [id]);
  return async () => {
    await session.query('commit');
    session.release();
  };
};
