import { ACCOUNT_STREAM_PREFIX, DerivationIndexesReserved } from '@cpg/contracts';
import { followLog, readStream } from '@cpg/event-sourcing';
import { rebuild } from '@cpg/operations';
import { addressesShownBy } from '../../payables/payable.ts';
import { payableProjection } from '../../payables/payable-projection.ts';
import { appliedOnceConfirmed, until } from '../../testing/jest-fixtures.ts';
import { deposit, hostedPage } from '../../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../../testing/jest-payments.ts';
import { simulatedChain } from '../../testing/jest-simulated-chain.ts';
import { NETWORK, sepolia, transferTo, usdc, watchedNetwork } from '../../testing/jest-watched-network.ts';
import { executeChains } from '../../testing/jest-commands.ts';
import { watchedAddresses } from './watched-addresses.ts';

const DAY_MS = 24 * 3_600_000;

let payments: PaymentsService;
let payables: ReturnType<PaymentsService['startPayables']> | undefined;
beforeEach(async () => {
  payments = await startPayments();
});
afterEach(async () => {
  await payables?.stop();
  payables = undefined;
  await payments.stop();
});

const createOrder = (...addresses: string[]) =>
  payments.createOrder(
    appliedOnceConfirmed,
    addresses.map((address, index) => deposit(address, index, `network-${index}`)),
  );
const rowsOf = async (address: string) =>
  (await payments.pool.query('select from payments.payables where address = $1', [address])).rowCount;
const project = async (address: string) => {
  payables ??= payments.startPayables();
  await until(() => rowsOf(address));
};

/** What a process looks for. */
const startWatching = () => {
  const { client, pool } = payments;
  const time = { passedMs: 0 };
  const { refresh } = watchedAddresses({
    db: pool,
    beyondRows: followLog({ client, db: pool, projection: payableProjection(client), keysIn: addressesShownBy }),
    onUnshown: async () => {},
    endsBy: () => new Date(Date.now() + time.passedMs),
  });
  return {
    time,
    refresh,
    among: async (...addresses: string[]) => [...(await (await refresh()).watchedAmong(addresses))].toSorted(),
  };
};

test('finds an address before its row is written, afterwards, and after all rows were lost', async () => {
  await createOrder('0xA1', '0xA2');
  await payments.createOrder(appliedOnceConfirmed, [hostedPage('REF', '0xA3')]);
  const { among } = startWatching();
  const found = ['0xA1', '0xA2', '0xA3'];
  expect(await among('0xOther', ...found)).toEqual(found);
  await project('0xA3');
  expect(await among('0xOther', ...found)).toEqual(found);
  expect(await startWatching().among('0xOther', ...found)).toEqual(found);
  await payables!.stop();
  payables = undefined;
  await payments.pool.query('truncate payments.payables, payments.reserved_indexes, payments.checkpoints');
  expect(await among('0xOther', ...found)).toEqual(found);
  expect(await startWatching().among('0xOther', ...found)).toEqual(found);
});

test('refuses to look in rows that were lost meanwhile', async () => {
  await createOrder('0xB1');
  await project('0xB1');
  const watched = await startWatching().refresh();
  await payables!.stop();
  payables = undefined;
  await payments.pool.query('truncate payments.payables, payments.checkpoints');
  await expect(watched.watchedAmong(['0xB1'])).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

test('finds the addresses of orders beside one that cannot be read, and its own', async () => {
  const unreadable = { orderId: 7, instructions: [{ rail: 'unknown', deposits: [{ address: '0xC1' }] }] };
  await payments.events.record('order-unreadable', 'OrderCreated', unreadable);
  await createOrder('0xC2');
  const { among } = startWatching();
  expect(await among('0xC1', '0xC2')).toEqual(['0xC1', '0xC2']);
  await project('0xC2');
  await createOrder('0xC3');
  expect(await among('0xC2', '0xC3')).toEqual(['0xC2', '0xC3']);
});

test('an address without money retires 90 days after its order ended, until an operator watches it', async () => {
  const [ended, reopened, paid, open, deleted] = ['0xD1', '0xD2', '0xD3', '0xD4', '0xD5'] as const;
  const all = [ended, reopened, paid, open, deleted];
  const at = new Date().toISOString();
  const happened = async (orderId: string, ...events: readonly (readonly [type: string, data?: object])[]) => {
    for (const [n, [type, data]] of events.entries())
      await payments.events.record(`order-${orderId}`, type, { ...data, at }, n);
  };
  const expired = ['OrderExpired', { status: 'expired', reason: 'late', orphanedPaymentIds: [] }] as const;
  const failed = ['OrderPaymentFailed', { status: 'reversed', reason: 'reorganization' }] as const;
  await happened(await createOrder(ended), expired);
  await happened(await createOrder(reopened), ['OrderPaid'], failed);
  await happened(await createOrder(paid), failed, ['OrderPaid']);
  await createOrder(open);
  await payments.events.deleted(await createOrder(deleted), [deposit(deleted)], { at });
  await project(deleted);
  const isEnded = 'select from payments.payables where address = $1 and ended_at is not null';
  await until(async () => (await payments.pool.query(isEnded, [deleted])).rowCount);
  await payments.pool.query("insert into payments.chain_cursors (network) values ('main')");
  await payments.pool.query(
    `insert into payments.chain_transfers (network, id, address, asset, units, seen_at)
     values ('main', 'a', $1, 'usdc', 1, now())`,
    [paid],
  );

  const { among, time } = startWatching();
  time.passedMs = 89 * DAY_MS;
  // The last event of the log is read again.
  await createOrder('0xD6');
  await project('0xD6');
  expect(await among(...all)).toEqual(all);
  time.passedMs = 91 * DAY_MS;
  expect(await among(...all)).toEqual([reopened, paid, open]);

  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const command = { db: payments.pool, assets: [], networks: [], print, warn: print };
  await payments.pool.query(`update payments.payables set ended_at = ended_at - interval '91 days'`);
  await executeChains(['archive', ended], command);
  const order = expect.stringMatching(/^order ord_.* path 0\/0, ended at /);
  expect(lines.splice(0)).toEqual([order, expect.stringMatching(/^it has retired/)]);
  await executeChains(['archive', ended, '--watch'], command);
  expect(lines.splice(0)).toEqual([order, expect.stringMatching(/rescan the blocks/)]);
  expect(await among(...all)).toEqual([ended, reopened, paid, open]);
  await executeChains(['archive', '0xUnknown'], command);
  expect(lines).toEqual(['no order shows 0xUnknown, spelled like this']);
  await expect(executeChains(['archive'], command)).rejects.toThrow(/missing required argument 'address'/);
});

test('a rebuild makes the same rows of ended orders and of reserved indexes', async () => {
  const orderId = await createOrder('0xE1');
  await payments.events.record(`order-${orderId}`, 'OrderPaid', { reason: 'paid' }, 0);
  await payments.events.reserved('f00dcafe', 20, 4);
  await project('0xE1');
  const rows = async () => [
    (await payments.pool.query('select * from payments.payables')).rows,
    (await payments.pool.query('select * from payments.derivation_ends')).rows,
  ];
  await until(async () => (await rows())[1]!.length === 1);
  const before = await rows();
  expect(before[0]).toEqual([expect.objectContaining({ ended_at: expect.any(Date) })]);
  expect(before[1]).toEqual([{ id: 'f00dcafe', next: '24' }]);
  await rebuild(payments.shadowTableOptions(payableProjection(payments.client)));
  expect(await rows()).toEqual(before);
});

test('credits money at the addresses of orders, whatever the rows of payables lack when its block comes', async () => {
  const watched = watchedNetwork(payments);
  await watched.reserve();
  const chain = simulatedChain();
  chain.mineMany(3);
  const { running } = watched.startProcess(chain.source);
  await until(() => running.progress().get(NETWORK)?.height === chain.height());

  // Nothing projects payables: PostgreSQL was lost, for example.
  const missingId = await createOrder('0xMissing');
  const toMissing = transferTo(0, '0xa', { address: '0xMissing' });
  chain.mine(toMissing);
  expect(await watched.paymentOf(toMissing, 'received')).toMatchObject({ order_id: missingId });
  expect(await rowsOf('0xMissing')).toBe(0);

  const comingId = await createOrder('0xComing');
  await project('0xComing');
  const toComing = transferTo(0, '0xb', { address: '0xComing' });
  chain.mine(toComing);
  expect(await watched.paymentOf(toComing, 'received')).toMatchObject({ order_id: comingId });

  await payments.events.record('order-unreadable', 'OrderCreated', { orderId: 7 });
  const nextId = await createOrder('0xNext');
  const toNext = transferTo(0, '0xc', { address: '0xNext' });
  chain.mine(toNext);
  expect(await watched.paymentOf(toNext, 'received')).toMatchObject({ order_id: nextId });

  // The next process knows nothing.
  await running.stop();
  const lastId = await createOrder('0xLast');
  const toLast = transferTo(0, '0xd', { address: '0xLast' });
  chain.mine(toLast);
  watched.startProcess(chain.source);
  expect(await watched.paymentOf(toLast, 'received')).toMatchObject({ order_id: lastId });
  await watched.stop();
});

test('skips indexes that received money before they were handed out, and watches as many further ones', async () => {
  const { fingerprint } = sepolia.account;
  const watched = watchedNetwork(payments);
  await watched.reserve();
  payables = payments.startPayables();
  const chain = simulatedChain();
  chain.mineMany(3);
  const { running, metrics } = watched.startProcess(chain.source);
  await until(() => running.progress().get(NETWORK)?.height === chain.height());
  const money = [transferTo(9, '0xa'), transferTo(15, '0xb'), transferTo(15 + 1_000, '0xc')];
  for (const each of money) {
    chain.mine(each);
    chain.mineMany(usdc.requiredConfirmations);
    expect(await watched.paymentOf(each, 'orphan')).toMatchObject({ orphan_reason: 'unknown_address' });
  }

  const stream = `${ACCOUNT_STREAM_PREFIX}${fingerprint}`;
  const [, ...skipped] = (await readStream(payments.client, stream, DerivationIndexesReserved))!;
  expect(skipped.map(({ event }) => event.data)).toMatchObject([
    { account: fingerprint, first: 10, count: 6, again: [], skipped: true },
    { account: fingerprint, first: 16, count: 1_000, again: [], skipped: true },
  ]);
  expect(await metrics()).toMatch(/^derivation_indexes_skipped_total 2$/m);
  await watched.stop();
});
