import { newId } from '@cpg/runtime';
import { depositOf, instructionsOf, type RailsDatabase, SANDBOX, startRailsDatabase } from '../testing/jest-rails.ts';
import { depositNetworksOf } from './networks.ts';

const NETWORKS = depositNetworksOf(SANDBOX);
let rails: RailsDatabase;

beforeAll(async () => {
  rails = await startRailsDatabase();
});

afterAll(() => rails.stop());

test('never assigns an address twice, and skips few indexes', async () => {
  const processes = [rails.startProcess(), rails.startProcess(), rails.startProcess()];
  const before = await nextIndexes();
  const orders = Array.from({ length: 120 }, () => newId('order'));
  const deposits = await Promise.all(orders.map((orderId, n) => depositOf(processes[n % 3]!, orderId)));
  expect(new Set(deposits.map(({ address }) => address)).size).toBe(120);
  expect(new Set(deposits.map(({ derivation }) => derivation.path)).size).toBe(120);
  const taken = (await nextIndexes()) - before;
  expect(taken - 120).toBeLessThan(3 * 16);
});

test('continues after the last reserved index when a process restarts', async () => {
  const first = await depositOf(rails.startProcess(), newId('order'));
  const second = await depositOf(rails.startProcess(), newId('order'));
  const index = (path: string) => Number(path.split('/')[1]);
  const skipped = index(second.derivation.path) - index(first.derivation.path);
  expect(skipped).toBeGreaterThan(0);
  expect(skipped).toBeLessThan(20);
});

test('assigns the address that the account key has at its path', async () => {
  const { rows } = await rails.pool.query<{ network: string; index: string; address: string }>(
    'select network, index, address from payments.deposit_addresses',
  );
  expect(rows.length).toBeGreaterThan(100);
  for (const { network, index, address } of rows.slice(0, 30)) {
    expect(NETWORKS.find(({ name }) => name === network)!.addressAt(Number(index))).toBe(address);
  }
});

test('refuses a stored address that does not match the account key', async () => {
  const orderId = newId('order');
  await instructionsOf(rails.startProcess(), orderId);
  await rails.pool.query("update payments.deposit_addresses set address = '0xbad' where order_id = $1", [orderId]);
  await expect(instructionsOf(rails.startProcess(), orderId)).rejects.toThrow(/does not match its account key/);
});

const nextIndexes = async (): Promise<number> => {
  const { rows } = await rails.pool.query<{ sum: string }>('select sum(next_index) from payments.deposit_accounts');
  return Number(rows[0]!.sum);
};
