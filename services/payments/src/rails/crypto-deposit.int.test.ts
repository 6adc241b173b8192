import type { AssignedInstruction, LeasedAddress } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { skipUsedIndexes } from '../addresses/deposit-accounts.ts';
import { depositNetworksOf } from '../addresses/deposit-network.ts';
import { REST_MS } from '../addresses/lease-indexes.ts';
import { receivingIndex } from '../payables/payable.ts';
import { until } from '../testing/jest-fixtures.ts';
import { deposit, hostedPage } from '../testing/jest-order-events.ts';
import { depositOf, type RailsDatabase, SANDBOX, startRailsDatabase } from '../testing/jest-rails.ts';

const NETWORKS = depositNetworksOf(SANDBOX);
const NETWORK = 'ethereum-sepolia';
let rails: RailsDatabase;

beforeEach(async () => {
  rails = await startRailsDatabase();
});

afterEach(() => rails.stop());

type Deposit = Awaited<ReturnType<typeof depositOf>>;
const indexOf = ({ derivation }: Pick<Deposit, 'derivation'>): number => receivingIndex(derivation.path)!;
const indexesIn = async (lease: ReturnType<RailsDatabase['startStock']>['lease'], count: number): Promise<number[]> => {
  const { addresses } = await lease({ addresses: { [NETWORK]: count }, references: 0 });
  return addresses[NETWORK]!.map(indexOf);
};
/** Records an order with an instruction, as orders does. */
const record = async (instruction: AssignedInstruction): Promise<void> =>
  rails.events.created(newId('order'), [instruction]);
/** A payment page with a leased address. */
const behindPage = (reference: string, { address, derivation }: LeasedAddress): AssignedInstruction => {
  const shown = hostedPage(reference, address);
  return { ...shown, deposits: shown.deposits!.map((each) => ({ ...each, derivation })) };
};

test('never assigns an address twice, and skips no index', async () => {
  const processes = [rails.startProcess(), rails.startProcess(), rails.startProcess()];
  const orders = Array.from({ length: 60 }, () => newId('order'));
  const deposits = await Promise.all(orders.map((orderId, n) => depositOf(processes[n % 3]!, orderId)));
  expect(new Set(deposits.map(({ address }) => address)).size).toBe(60);
  expect(deposits.map(indexOf).sort((one, other) => one - other)).toEqual(orders.map((_, n) => n));
  const { addressAt } = NETWORKS.find(({ name }) => name === NETWORK)!;
  for (const deposit of deposits) expect(deposit.address).toBe(addressAt(indexOf(deposit)));
});

test('reserves for all callers of a moment in one event', async () => {
  const { lease } = rails.startStock();
  const leased = await Promise.all([indexesIn(lease, 3), indexesIn(lease, 2), indexesIn(lease, 1)]);
  expect(leased).toEqual([[0, 1, 2], [3, 4], [5]]);
  expect((await rails.reservations()).map(({ count }) => count)).toEqual([6]);
});

test('another database, or an older one, gives no address twice', async () => {
  const first = await indexesIn(rails.startStock().lease, 5);
  await rails.pool.query('truncate payments.payables, payments.reserved_indexes, payments.deposit_addresses');
  expect([...first, ...(await indexesIn(rails.startStock().lease, 5))]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('begins after the indexes that orders show, and after those whose events are gone', async () => {
  const shared = NETWORKS.find(({ name }) => name === NETWORK)!;
  const { fingerprint } = shared.account;
  const { lease } = rails.startStock();
  const derivation = { fingerprint, path: '0/40' };
  await record({ ...deposit(shared.addressAt(40), 40), derivation });
  expect(await indexesIn(lease, 2)).toEqual([41, 42]);

  await rails.pool.query(
    'insert into payments.deposit_addresses (order_id, network, account, index, address) values ($1, $2, $3, 50, $4)',
    [newId('order'), NETWORK, fingerprint, shared.addressAt(50)],
  );
  expect(await indexesIn(rails.startStock().lease, 1)).toEqual([51]);
});

test('reserves indexes again that no order shows, once their leases have rested', async () => {
  const projecting = rails.startPayables();
  const { lease } = rails.startStock();
  const [shown] = (await lease({ addresses: { [NETWORK]: 4 }, references: 0 })).addresses[NETWORK]!;
  await record({ ...(await depositOf(rails.startProcess(), newId('order'))), ...shown! });
  const reserved = () => rails.pool.query('select index::int from payments.reserved_indexes order by index');
  await until(async () => (await reserved()).rowCount === 4);
  rails.passMs(REST_MS - 1);
  expect(await indexesIn(lease, 1)).toEqual([5]);
  rails.passMs(1);
  expect(await indexesIn(lease, 5)).toEqual([1, 2, 3, 6, 7]);
  await projecting.stop();
});

test('hands out no index that received money, and none before one that received money too early', async () => {
  const projecting = rails.startPayables();
  const { account, addressAt } = NETWORKS.find(({ name }) => name === NETWORK)!;
  const { lease } = rails.startStock();
  expect(await indexesIn(lease, 3)).toEqual([0, 1, 2]);
  const skip = (index: number) =>
    skipUsedIndexes({ client: rails.client, readModel: rails.pool, now: () => new Date() }, account, index);
  expect(await skip(2)).toBeNull();
  expect(await skip(5)).toEqual({ first: 3, count: 3 });
  expect(await skip(5)).toBeNull();
  expect(await indexesIn(lease, 2)).toEqual([6, 7]);
  await until(async () => (await rails.pool.query('select from payments.reserved_indexes')).rowCount === 8);
  await rails.pool.query(`insert into payments.chain_cursors (network) values ($1)`, [NETWORK]);
  await rails.pool.query(
    `insert into payments.chain_transfers (network, id, address, asset, units, seen_at) values ($1, 'a', $2, 'eth', 1, now())`,
    [NETWORK, addressAt(1)],
  );
  rails.passMs(REST_MS);
  expect(await indexesIn(lease, 5)).toEqual([0, 2, 6, 7, 8]);
  await projecting.stop();
});

test.each<[string, (address: string) => [sql: string, values: unknown[]][]]>([
  [
    'an order of another account shows',
    (address) => [
      [
        `insert into payments.payables (id, order_id, merchant_id, rail, address, hosted)
         values ('x', 'x', 'mer', 'crypto_deposit', $1, false)`,
        [address],
      ],
    ],
  ],
  [
    'was shown by an order without events',
    (address) => [
      [
        `insert into payments.deposit_addresses (order_id, network, account, index, address)
         values ('x', 'n', 'other', 0, $1)`,
        [address],
      ],
    ],
  ],
  [
    'received money',
    (address) => [
      ['insert into payments.chain_cursors (network) values ($1)', [NETWORK]],
      [
        `insert into payments.chain_transfers (network, id, address, asset, units, seen_at)
         values ($1, 'a', $2, 'eth', 1, now())`,
        [NETWORK, address],
      ],
    ],
  ],
])('reserves the only index that has rested again, unless its address %s', async (_, used) => {
  const projecting = rails.startPayables();
  const { addressAt } = NETWORKS.find(({ name }) => name === NETWORK)!;
  const { lease } = rails.startStock();
  expect(await indexesIn(lease, 1)).toEqual([0]);
  await until(async () => (await rails.pool.query('select from payments.reserved_indexes')).rowCount === 1);
  await projecting.stop();
  // Another account says nothing about this one.
  await rails.pool.query(
    `insert into payments.reserved_indexes (id, account, index, revision) values ('other/7', 'other', 7, 0)`,
  );
  rails.passMs(REST_MS);
  expect(await indexesIn(lease, 1)).toEqual([0]);
  rails.passMs(REST_MS);
  for (const [sql, values] of used(addressAt(0))) await rails.pool.query(sql, values);
  expect(await indexesIn(lease, 1)).toEqual([1]);
});

test('never reserves an index again that a payment page shows, before and after its row is written', async () => {
  const { lease } = rails.startStock();
  const [shown, inLog] = (await lease({ addresses: { [NETWORK]: 3 }, references: 0 })).addresses[NETWORK]!;
  await record(behindPage('REF1', shown!));
  const projecting = rails.startPayables();
  await until(async () => (await rails.pool.query('select from payments.reserved_indexes')).rowCount === 2);
  await projecting.stop();
  await record(behindPage('REF2', inLog!));
  rails.passMs(REST_MS);
  expect(await indexesIn(lease, 2)).toEqual([2, 3]);
});

test('takes what an order shows in the log for used, before the row says so', async () => {
  const { lease } = rails.startStock();
  const projecting = rails.startPayables();
  const leased = (await lease({ addresses: { [NETWORK]: 3 }, references: 0 })).addresses[NETWORK]!;
  await until(async () => (await rails.pool.query('select from payments.reserved_indexes')).rowCount === 3);
  await projecting.stop();
  await record({ ...(await depositOf(rails.startProcess(), newId('order'))), ...leased[1]! });
  rails.passMs(REST_MS);
  const other = rails.startStock();
  expect(await indexesIn(other.lease, 1)).toEqual([4]);
  rails.passMs(REST_MS);
  expect(await Promise.all([indexesIn(lease, 1), indexesIn(other.lease, 1)])).toEqual(
    expect.arrayContaining([[0], [2]]),
  );
});
