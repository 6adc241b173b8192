import { appliedOnceConfirmed, until } from '../testing/jest-fixtures.ts';
import { deposit } from '../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { simulatedChain } from '../testing/jest-simulated-chain.ts';
import { NETWORK, transferTo, watchedNetwork } from '../testing/jest-watched-network.ts';
import { earlierAddresses } from './earlier-addresses.ts';

/** The test waits for several commits of the watcher. */
const TIMEOUT_MS = 60_000;

let payments: PaymentsService;
let payables: ReturnType<PaymentsService['startPayables']> | undefined;
let watched: ReturnType<typeof watchedNetwork>;

beforeAll(async () => {
  payments = await startPayments();
  watched = watchedNetwork(payments);
  await watched.reserve();
});
afterAll(async () => {
  await watched.stop();
  await payables?.stop();
  await payments.stop();
});

/** No account of the network derives them. */
const [MISSING, COMING, AFTER_PARKING, UNREAD] = ['0xEarlier1', '0xEarlier2', '0xEarlier3', '0xEarlier4'] as const;

const orderAt = (address: string, index: number) =>
  payments.createOrder(appliedOnceConfirmed, [deposit(address, index)]);
const rowsOf = async (address: string) =>
  (await payments.pool.query('select from payments.payables where address = $1', [address])).rowCount;

test(
  'credits money at addresses of earlier keys, whatever the rows of payables lack when its block comes',
  async () => {
    const chain = simulatedChain();
    chain.mineMany(3);
    let asked = 0;
    const tip = () => {
      asked += 1;
      return chain.source.tip();
    };
    const { running } = watched.startProcess({ ...chain.source, tip });
    const readOn = () => until(() => running.progress().get(NETWORK)?.height === chain.height());
    await readOn();

    // Nothing projects payables: PostgreSQL was lost, for example.
    const missingId = await orderAt(MISSING, 1);
    const toMissing = transferTo(0, '0xa', { address: MISSING });
    chain.mine(toMissing);
    expect(await watched.paymentOf(toMissing, 'received')).toMatchObject({ order_id: missingId });
    expect(await rowsOf(MISSING)).toBe(0);

    payables = payments.startPayables();
    const comingId = await orderAt(COMING, 2);
    await until(() => rowsOf(COMING));
    const toComing = transferTo(0, '0xb', { address: COMING });
    chain.mine(toComing);
    expect(await watched.paymentOf(toComing, 'received')).toMatchObject({ order_id: comingId });

    await payments.pool.query(
      "insert into payments.parked_streams values ('payables', 'order-x', 0, 'e', 't', 'reason')",
    );
    const afterParkingId = await orderAt(AFTER_PARKING, 3);
    const toAfterParking = transferTo(0, '0xc', { address: AFTER_PARKING });
    chain.mine(toAfterParking);
    expect(await watched.paymentOf(toAfterParking, 'received')).toMatchObject({ order_id: afterParkingId });

    // The next process does not know what the rows lack.
    await running.stop();
    const unreadId = await orderAt(UNREAD, 4);
    const toUnread = transferTo(0, '0xd', { address: UNREAD });
    chain.mine(toUnread);
    const height = chain.height() - 1;
    const next = watched.startProcess({ ...chain.source, tip });
    const askedBefore = asked;
    await until(() => asked > askedBefore + 2);
    expect(next.running.progress().get(NETWORK)).toMatchObject({ height });
    await payments.pool.query('delete from payments.parked_streams');
    expect(await watched.paymentOf(toUnread, 'received')).toMatchObject({ order_id: unreadId });
  },
  TIMEOUT_MS,
);

test('returns each address once, however many there are and however often a call failed before', async () => {
  const MANY = 200_000;
  await payments.pool.query(
    `insert into payments.deposit_addresses (order_id, network, account, index, address)
     select 'ord_' || n, $1, 'earlier', n, '0xMany' || n from generate_series(1, $2::int) n`,
    [NETWORK, MANY],
  );
  const { client, pool: db } = payments;
  const find = earlierAddresses({ client, db, networks: [NETWORK] });
  await payments.pool.query(
    "insert into payments.parked_streams values ('payables', 'order-y', 0, 'e', 't', 'reason')",
  );
  for (const _ of [1, 2]) await expect(find([])).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await payments.pool.query('delete from payments.parked_streams');
  expect((await find([])).filter((address) => address.startsWith('0xMany'))).toHaveLength(MANY);
});
