import { CHAIN_STREAM_PREFIX, ChainEvent, PaymentEvent } from '@cpg/contracts';
import { readStream } from '@cpg/event-sourcing';
import { newestAddresses } from '../payables/deposit-addresses.ts';
import { paymentIdOf } from '../payment/identity.ts';
import { appliedOnceConfirmed, until } from '../testing/jest-fixtures.ts';
import { deposit } from '../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { simulatedChain } from '../testing/jest-simulated-chain.ts';
import { NETWORK, sepolia, transferTo, usdc, watchedNetwork } from '../testing/jest-watched-network.ts';
import { type ChainSource, correctedId, WrongChainError } from './chain-source.ts';
import { executeChains } from '../testing/jest-commands.ts';

/** No current account derives it. */
const EARLIER_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

let payments: PaymentsService;
let payables: ReturnType<PaymentsService['startPayables']>;
let watched: ReturnType<typeof watchedNetwork>;

beforeAll(async () => {
  payments = await startPayments();
  payables = payments.startPayables();
  watched = watchedNetwork(payments);
  await watched.reserve();
});
afterAll(async () => {
  await watched.stop();
  await payables.stop();
  await payments.stop();
});

test('pays orders from the chain, with one leader of several processes, also after that one stops', async () => {
  const chain = simulatedChain();
  chain.mineMany(3);
  const ofEarlierKey = await payments.createOrder(appliedOnceConfirmed, [deposit(EARLIER_ADDRESS, 5)]);
  const isShown = 'select from payments.payables where address = $1';
  await until(async () => (await payments.pool.query(isShown, [EARLIER_ADDRESS])).rowCount === 1);
  const processes = [watched.startProcess(chain.source), watched.startProcess(chain.source)];
  const leader = await until(() => processes.find(({ running }) => running.progress().size > 0));
  const other = processes.find((each) => each !== leader)!;
  const orderId = await watched.orderAt(1);
  const money = transferTo(1, '0xa');
  const block = chain.mine(money);
  expect(await watched.paymentOf(money, 'received')).toMatchObject({
    order_id: orderId,
    confirmations: 1,
    block,
    tx_hash: '0xa',
  });
  chain.mineMany(usdc.requiredConfirmations - 1);
  expect(await watched.paymentOf(money, 'applied')).toMatchObject({ order_id: orderId, paid_amount: '10.000000' });
  expect(other.running.progress().size).toBe(0);

  await leader.running.stop();
  const secondOrder = await watched.orderAt(2);
  const second = transferTo(2, '0xb');
  chain.mine(second);
  // Nobody was shown this address: its money belongs to no order.
  const stray = transferTo(7, '0xc');
  chain.mine(stray);
  const late = transferTo(5, '0xe', { address: EARLIER_ADDRESS });
  chain.mine(late);
  chain.mineMany(usdc.requiredConfirmations);
  expect(await watched.paymentOf(second, 'applied')).toMatchObject({ order_id: secondOrder });
  expect(await watched.paymentOf(late, 'applied')).toMatchObject({ order_id: ofEarlierKey });
  expect(await watched.paymentOf(stray, 'orphan')).toMatchObject({ orphan_reason: 'unknown_address' });
  await until(() => other.running.progress().get(NETWORK)?.height === chain.height());
  expect(other.running.progress().get(NETWORK)).toMatchObject({ watched: expect.any(Number) });
  const readStatus = (network: string, at: number) => other.readStatusOf(network, new Date(at), []);
  await until(async () => (await readStatus(NETWORK, chain.now().getTime() - 1)) === 'reported');

  expect(await readStatus(NETWORK, Date.now() + 3_600_000)).toBe('unread');
  expect(await readStatus('bitcoin-testnet', Date.now())).toBe('reported');
  const read = { height: chain.height(), tip: chain.height() };
  await until(async () => JSON.stringify(await other.details()).includes(JSON.stringify(read).slice(1, -1)));

  const lines: string[] = [];
  const command = {
    db: payments.pool,
    assets: sepolia.assets,
    networks: [NETWORK],
    print: (line: string) => lines.push(line),
    warn: (line: string) => lines.push(line),
  };
  expect(await executeChains(['status'], command)).toBe(0);
  expect(lines.splice(0)).toEqual([
    expect.stringMatching(/^ethereum-sepolia: read up to block \d+ \(main-.*transfers may/),
  ]);
  const received = `${NETWORK},${sepolia.addressAt(2)},f00dcafe,0/2,${usdc.id},USDC,10.000000,1`;
  const ofUnpaid = await watched.orderAt(6);
  await until(async () => (await payments.findPayable({ address: sepolia.addressAt(6) }))?.orderId === ofUnpaid);
  const unpaid = `${NETWORK},${sepolia.addressAt(6)},f00dcafe,0/6,,,0,0`;
  await until(async () => {
    lines.length = 0;
    await executeChains(['balances', '--all'], command);
    return lines.includes(unpaid);
  });
  expect(lines.splice(0)).toContain(received);
  await executeChains(['balances'], command);
  expect(lines).toEqual(expect.arrayContaining([received, expect.stringContaining(EARLIER_ADDRESS)]));
  expect(lines).not.toContain(unpaid);
  const complete = lines.splice(0);
  const bridged = { ...usdc, label: 'USDC.e', ifSent: 'orphan' as const };
  await executeChains(['balances'], { ...command, assets: [bridged] });
  expect(lines.splice(0)).toContain(received.replace(',USDC,', ',USDC.e,'));
  expect(await executeChains(['balances'], { ...command, assets: [] })).toBe(1);
  expect(lines.splice(0).at(-1)).toMatch(`amounts of ${usdc.id} are in the smallest units`);
  // The schema was lost: old blocks are not read again, and events bring back payments and payables.
  await payments.pool.query('delete from payments.chain_transfers where network = $1', [NETWORK]);
  expect(await executeChains(['balances'], command)).toBe(0);
  expect(lines.splice(0)).toEqual([...complete, expect.stringMatching(/lost 4 transfers: .* recorded payments/)]);
  await other.running.stop();
});

test('catches up oldest first, and records how far it read', async () => {
  const chain = simulatedChain();
  const network = 'catch-up';
  const before = watched.startProcess(chain.source, network);
  expect((await before.readNetworks()).get(network)).toMatchObject({ isAvailable: false });
  await before.firstLook();
  expect((await before.readNetworks()).get(network)).toMatchObject({ isAvailable: true });
  await before.running.stop();
  const orderId = await watched.orderAt(3);
  const money = transferTo(3, '0xd');
  const block = chain.mine(money);
  const seenAt = chain.now();
  chain.mineMany(30);
  const after = watched.startProcess(chain.source, network);
  expect(await watched.paymentOf(money, 'applied')).toMatchObject({ order_id: orderId, block });
  await until(() => after.running.progress().get(network)?.height === chain.height());
  const stream = `${CHAIN_STREAM_PREFIX}${network}`;
  await until(async () => (await readStream(payments.client, stream, ChainEvent))?.length === 1);
  const { rows } = await payments.pool.query('select seen_at from payments.chain_transfers where id = $1', [money.id]);
  expect(rows).toEqual([{ seen_at: seenAt }]);
  await after.running.stop();
});

test('corrects an amount that paid an order when a rescan shows another one', async () => {
  const chain = simulatedChain();
  const network = 'corrected';
  const { running } = watched.startProcess(chain.source, network);
  await until(() => running.progress().get(network)?.state === 'at_tip');
  const orderId = await watched.orderAt(4);
  chain.setLie((transfers) => transfers.map((transfer) => ({ ...transfer, units: 1_000n * transfer.units })));
  const money = transferTo(4, '0xf');
  chain.mine(money);
  chain.mineMany(usdc.requiredConfirmations);
  expect(await watched.paymentOf(money, 'applied')).toMatchObject({ order_id: orderId, paid_amount: '10000.000000' });
  chain.setLie(null);
  const command = { db: payments.pool, assets: sepolia.assets, networks: [network], print: () => {}, warn: () => {} };
  await executeChains(['rescan', network, '--from', '1', '--apply'], command);
  expect(await watched.paymentOf(money, 'failed')).toMatchObject({ failure_reason: 'misread' });
  const corrected = await watched.paymentOf({ ...money, id: correctedId(money) }, 'applied');
  expect(corrected).toMatchObject({ order_id: orderId, paid_amount: '10.000000', tx_hash: '0xf' });
  const newest = (after: Date) => newestAddresses(payments.pool, NETWORK, after);
  await until(async () => (await newest(new Date(0))).includes(sepolia.addressAt(4)));
  expect(await newest(new Date())).toEqual([]);
  expect(await newestAddresses(payments.pool, 'bitcoin', new Date(0))).toEqual([]);
  await running.stop();
});

test('halts on the wrong chain, shows why, and goes on when an operator asks for a rescan of the right one', async () => {
  const chain = simulatedChain();
  const network = 'wrong-chain';
  let isWrong = true;
  const source: ChainSource = {
    ...chain.source,
    verify: async () => {
      if (isWrong) throw new WrongChainError('node 1 has chain id 1, not 11155111');
    },
  };
  const first = watched.startProcess(source, network);
  await until(() => first.running.progress().get(network)?.state === 'halted');
  const halted = { height: null, halted: 'node 1 has chain id 1, not 11155111' };
  await until(async () => JSON.stringify(await first.details()).includes('chain id 1'));
  await first.firstLook();
  await until(async () => JSON.stringify(await first.details()).includes('its reading halted'));
  expect(await first.details()).toEqual({
    chains: { [network]: { ...halted, tip: null, read_at: null, unavailable: 'its reading halted' } },
  });
  expect(await first.readStatusOf(network, new Date(0), [])).toBe('unread');
  await first.running.stop();

  isWrong = false;
  const lines: string[] = [];
  const command = {
    db: payments.pool,
    assets: [],
    networks: [network],
    print: (line: string) => lines.push(line),
    warn: () => {},
  };
  await executeChains(['rescan', network, '--from', '1'], command);
  expect(lines.splice(0)).toEqual([
    expect.stringMatching(/HALTED: node 1 has chain id 1, not 11155111\. .*take it out of CHAIN_URLS/),
    'with --apply, the chain that the nodes show now is accepted from block 1 on: 0 transfers are looked for again, ' +
      'and payments that it does not contain fail',
  ]);
  await executeChains(['rescan', network, '--from', '1', '--apply'], command);
  await expect(executeChains(['rescan', 'other', '--from', '1'], command)).rejects.toThrow(/no network other/);
  const second = watched.startProcess(source, network);
  await until(() => second.running.progress().get(network)?.state === 'at_tip');
  await until(async () => !JSON.stringify(await second.details()).includes('halted'));
  await second.running.stop();
});

test('lets no order expire while its nodes are frozen, and shows why until they are current again', async () => {
  const chain = simulatedChain();
  const network = 'frozen';
  chain.mineMany(3);
  chain.setShown({ stalled: 'every node is frozen' });
  const { running, details, readStatusOf: readStatus } = watched.startProcess(chain.source, network);
  const shown = () => ({ chains: { [network]: { height: chain.height(), stalled: 'every node is frozen' } } });
  await until(() => running.progress().get(network)?.state === 'at_tip');
  await until(async () => JSON.stringify(await details()).includes('stalled'));
  expect(await details()).toMatchObject(shown());
  const hourAgo = new Date(Date.now() - 3_600_000);
  expect(await readStatus(network, hourAgo, [])).toBe('unread');
  chain.setShown({});
  await until(async () => (await readStatus(network, hourAgo, [])) === 'reported');
  expect(JSON.stringify(await details())).not.toContain('stalled');
  await running.stop();
});

test('a rescan shows what was missed, adds it only on request, and announces nothing else', async () => {
  const chain = simulatedChain();
  const network = 'rescanned';
  let isBlind = false;
  const source: ChainSource = {
    ...chain.source,
    block: async (ref, addresses) => {
      const block = await chain.source.block(ref, addresses);
      return isBlind ? { ...block, transfers: [] } : block;
    },
  };
  const { running } = watched.startProcess(source, network);
  const untilRead = () => until(() => running.progress().get(network)?.height === chain.height());
  const seen = transferTo(8, '0x8a');
  const missed = transferTo(9, '0x9a');
  const orderId = await watched.orderAt(9);
  await until(async () => (await payments.findPayable({ address: sepolia.addressAt(9) }))?.orderId === orderId);
  chain.mine(seen);
  chain.mineMany(usdc.requiredConfirmations);
  await watched.paymentOf(seen, 'orphan');
  isBlind = true;
  chain.mine(missed);
  await untilRead();
  chain.mineMany(usdc.requiredConfirmations);
  await untilRead();
  await until(() => running.progress().get(network)?.recheckLag === 0);
  isBlind = false;

  const lines: string[] = [];
  const command = {
    db: payments.pool,
    assets: [],
    networks: [network],
    print: (line: string) => lines.push(line),
    warn: () => {},
  };
  const shown = async () => {
    lines.length = 0;
    await executeChains(['status'], command);
    return lines.filter((line) => line.startsWith(`${network}: `)).slice(1);
  };
  const rescan = async (...options: string[]) => {
    await executeChains(['rescan', network, '--from', '1', ...options], command);
    return until(async () => {
      const found = await shown();
      return found[0]?.includes('complete') && found;
    });
  };
  const countOf = async ({ id }: { id: string }) => {
    const stream = `payment-${paymentIdOf('crypto_deposit', `${sepolia.chainId}/${id}`)}`;
    return (await readStream(payments.client, stream, PaymentEvent))?.length ?? 0;
  };
  const before = await countOf(seen);
  const height = chain.height() - usdc.requiredConfirmations;
  const finding = `${network}: missing in block ${height}: 10000000 units to ${missed.address} (0x9a:0)`;
  expect(await rescan()).toEqual([
    expect.stringMatching(/changes nothing: complete at .*, 1 transfers differ$/),
    finding,
  ]);
  expect(await countOf(missed)).toBe(0);
  expect(await rescan('--apply')).toEqual([expect.stringMatching(/applies what differs: complete at/), finding]);
  chain.mine();
  expect(await watched.paymentOf(missed, 'applied')).toMatchObject({ order_id: orderId });
  expect(await rescan('--apply')).toEqual([expect.stringMatching(/, 0 transfers differ$/)]);
  await untilRead();
  expect(await countOf(seen)).toBe(before);
  await expect(executeChains(['rescan', network, '--from', '999999', '--apply'], command)).rejects.toThrow(
    'block 999999 of rescanned was not read yet',
  );
  await running.stop();
});
