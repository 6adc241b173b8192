import { AppError } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import { migratedDatabase } from '@cpg/platform/postgres/testing';
import { MIGRATIONS } from '../../migrations.ts';
import { paymentIdOf } from '../../payment/identity.ts';
import { chainProcesses, KIND, transferOf, USDC } from '../../testing/jest-chain-process.ts';
import { simulatedChain } from '../../testing/jest-simulated-chain.ts';
import { readStatusOf } from '../chain-status.ts';
import { chainTables } from '../reading/chain-tables.ts';
import { executeChains } from '../../testing/jest-commands.ts';

let database: Awaited<ReturnType<typeof migratedDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await migratedDatabase(MIGRATIONS);
  pool = database.pool;
});
afterEach(() => pool.query('delete from payments.chain_transfers'));
afterAll(() => database.stop());

const NETWORK = 'simulated';
const money = transferOf('a');

/** Runs `chains reports …`. */
const reports = async (...options: string[]) => {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const command = { db: pool, assets: [USDC], networks: [NETWORK], print, warn: print };
  const code = await executeChains(['reports', ...options], command);
  return { code, lines };
};

/** A chain with money whose report fails. */
const watchFailing = async (error: Error, network = NETWORK) => {
  const chain = simulatedChain();
  const watching = chainProcesses(chain, { store: chainTables(pool, network, KIND.windowBlocks) });
  watching.setOrdersFailure(() => error);
  await watching.readOn();
  chain.mine(money);
  chain.mine();
  await watching.readOn();
  return { chain, watching };
};

test('lists a report that fails, and makes it again at once when an operator asks for it', async () => {
  const { watching } = await watchFailing(new AppError('internal_error', 'orders answered "500"'));
  const first = watching.now().toISOString();
  const next = new Date(watching.now().getTime() + 5_000).toISOString();
  const paymentId = paymentIdOf('crypto_deposit', `${USDC.id.split('/')[0]}/${money.id}`);
  expect(await reports()).toEqual({
    code: 1,
    lines: [
      'network,transfer,address,amount,currency,payment,state,attempts,first_failure,last_failure,next_attempt,reason',
      `simulated,a:0,address-of-a,1.000000,USDC,${paymentId},retrying,1,${first},${first},${next},"internal_error: orders answered ""500"""`,
    ],
  });
  watching.setOrdersFailure(() => null);
  await watching.readOn();
  expect(watching.paymentOf(money)).toBeUndefined();
  expect(await reports('--retry', paymentId)).toMatchObject({
    code: 0,
    lines: [expect.stringMatching(/^simulated a:0 /)],
  });
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
  expect(await reports()).toMatchObject({ code: 0, lines: [expect.any(String)] });
});

test('makes a refused report again when an operator asks for it', async () => {
  const { chain, watching } = await watchFailing(new AppError('payment_conflict', 'another amount'), 'refused');
  watching.setOrdersFailure(() => null);
  watching.passHours(1);
  await watching.readOn();
  expect((await reports()).lines[1]).toMatch(/,refused,1,.*,,"payment_conflict: another amount"$/);
  await reports('--retry', 'a:0');
  chain.mine();
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe('applied');
});

test.each([
  ['is on the chain', false, 'applied'],
  ['left the chain', true, undefined],
])('makes a report again that an earlier version refused, of money that %s', async (_, isGone, status) => {
  const { chain, watching } = await watchFailing(
    new AppError('payment_conflict', 'another amount'),
    `earlier-${isGone}`,
  );
  watching.setOrdersFailure(() => null);
  await pool.query(
    'update payments.chain_transfers set attempts = null, first_failed_at = null, last_failed_at = null, failure = null',
  );
  if (isGone) {
    chain.drop(2);
    chain.mineMany(3);
    await watching.readOn();
    watching.passHours(25);
  }
  expect((await reports()).lines[1]).toMatch(/,refused,1,,,,"see the log"$/);
  await reports('--retry', 'all');
  await watching.readOn();
  expect(watching.paymentOf(money)?.status).toBe(status);
  expect((await reports()).lines).toHaveLength(1);
});

test('a report that fails holds only the orders of its address', async () => {
  const { watching } = await watchFailing(new AppError('internal_error', 'orders answered 500'), 'held');
  const readStatus = readStatusOf(pool, new Map([['held', KIND]]));
  const at = watching.now();
  expect(await readStatus('held', at, ['address-of-b', money.address])).toBe('unreported');
  expect(await readStatus('held', at, ['address-of-b'])).toBe('reported');
  expect(await readStatus('held', new Date(at.getTime() + 1), ['address-of-b'])).toBe('unread');
  await reports('--retry', 'all');
  watching.setOrdersFailure(() => null);
  await watching.readOn();
  expect(await readStatus('held', at, [money.address])).toBe('reported');
});

test('refuses to retry a report that does not fail', async () => {
  await expect(reports('--retry', 'b:0')).rejects.toThrow('no report of b:0 fails');
  expect(await reports('--retry', 'all')).toEqual({ code: 0, lines: ['no report fails'] });
});
