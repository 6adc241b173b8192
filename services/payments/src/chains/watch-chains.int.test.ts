import { createServiceMetrics } from '@cpg/runtime';
import { readAssets } from '@cpg/assets';
import { ACCOUNT_STREAM_PREFIX, CHAIN_STREAM_PREFIX, ChainEvent } from '@cpg/contracts';
import { readStream } from '@cpg/event-store';
import { depositNetworksOf } from '../rails/networks.ts';
import { appliedOnceConfirmed, until } from '../testing/jest-fixtures.ts';
import { deposit } from '../testing/jest-order-events.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { simulatedChain } from '../testing/jest-simulated-chain.ts';
import { paymentIdOf } from '../payment/identity.ts';
import { type ChainSource, type Transfer, WrongChainError } from './chain-source.ts';
import { executeChains } from './chains-command.ts';
import { watchChains } from './watch-chains.ts';

const NETWORK = 'ethereum-sepolia';
const networks = depositNetworksOf(readAssets({ ENVIRONMENT: 'sandbox' }));
const sepolia = networks.find(({ name }) => name === NETWORK)!;
const usdc = sepolia.assets.find(({ currency }) => currency === 'USDC')!;

/** No current account derives it. */
const EARLIER_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** Each test waits for many commits. */
const TIMEOUT_MS = 90_000;

let payments: PaymentsService;
let payables: ReturnType<PaymentsService['startPayables']>;

beforeAll(async () => {
  payments = await startPayments();
  payables = payments.startPayables();
  const { fingerprint } = sepolia.account;
  const reserved = { account: fingerprint, first: 0, count: 10, again: [] };
  await payments.events.record(`${ACCOUNT_STREAM_PREFIX}${fingerprint}`, 'DerivationIndexesReserved', reserved);
});
afterAll(async () => {
  await Promise.all(started.map(({ stop }) => stop()));
  await payables.stop();
  await payments.stop();
});

const started: ReturnType<ReturnType<typeof watchChains>['start']>[] = [];

/** One process. All share the stores and the node. */
const startProcess = (source: ChainSource, name = NETWORK) => {
  const { client, pool, log, registerPayment, changes, subscription } = payments;
  const network = { ...sepolia, name };
  const chains = watchChains({
    config: {
      ...{ DATABASE_URL: subscription.databaseUrl, ENVIRONMENT: 'sandbox', CHAIN_POLL_MS: 20, networks: [network] },
      CHAIN_URLS: { [name]: ['http://127.0.0.1:1'] },
    },
    ...{ client, pool, log, register: registerPayment, fail: changes.fail, now: () => new Date() },
    openSource: () => ({ ...source, close: async () => {} }),
    accounts: {
      accountsOf: async () => [network],
      requiredConfirmations: async (_merchantId, asset) => asset.requiredConfirmations,
    },
    findPayable: payments.findPayable,
    metrics: createServiceMetrics({ totals: () => ({}) }),
  });
  const running = chains.start();
  started.push(running);
  return { ...chains, running };
};

const transferTo = (index: number, txHash: string, changes: Partial<Transfer> = {}): Transfer => ({
  ...{ id: `${txHash}:0`, txHash, address: sepolia.addressAt(index), asset: usdc.id, units: 10_000_000n },
  ...changes,
});
const paymentOf = async ({ id }: Transfer, status: string) => {
  const paymentId = paymentIdOf('crypto_deposit', `${sepolia.chainId}/${id}`);
  return until(async () => {
    const row = await payments.rowOf(paymentId);
    return row?.status === status ? (row.resource as Record<string, unknown>) : null;
  });
};
const orderAt = (index: number) => payments.createOrder(appliedOnceConfirmed, [deposit(sepolia.addressAt(index), index)]);

test(
  'pays orders from the chain, with one leader of several processes, also after that one stops',
  async () => {
    const chain = simulatedChain();
    chain.mineMany(3);
    const ofEarlierKey = await payments.createOrder(appliedOnceConfirmed, [deposit(EARLIER_ADDRESS, 5)]);
    const isShown = 'select from payments.payables where address = $1';
    await until(async () => (await payments.pool.query(isShown, [EARLIER_ADDRESS])).rowCount === 1);
    const processes = [startProcess(chain.source), startProcess(chain.source)];
    const leader = await until(() => processes.find(({ running }) => running.progress().size > 0));
    const other = processes.find((each) => each !== leader)!;
    const orderId = await orderAt(1);
    const money = transferTo(1, '0xa');
    const block = chain.mine(money);
    expect(await paymentOf(money, 'received')).toMatchObject({
      order_id: orderId,
      confirmations: 1,
      block,
      tx_hash: '0xa',
    });
    chain.mineMany(usdc.requiredConfirmations - 1);
    expect(await paymentOf(money, 'applied')).toMatchObject({ order_id: orderId, paid_amount: '10.000000' });
    expect(other.running.progress().size).toBe(0);

    await leader.running.stop();
    const secondOrder = await orderAt(2);
    const second = transferTo(2, '0xb');
    chain.mine(second);
    // Nobody was shown this address: its money belongs to no order.
    const stray = transferTo(7, '0xc');
    chain.mine(stray);
    const late = transferTo(5, '0xe', { address: EARLIER_ADDRESS });
    chain.mine(late);
    chain.mineMany(usdc.requiredConfirmations);
    expect(await paymentOf(second, 'applied')).toMatchObject({ order_id: secondOrder });
    expect(await paymentOf(late, 'applied')).toMatchObject({ order_id: ofEarlierKey });
    expect(await paymentOf(stray, 'orphan')).toMatchObject({ orphan_reason: 'unknown_address' });
    await until(() => other.running.progress().get(NETWORK)?.height === chain.height());
    expect(other.running.progress().get(NETWORK)).toMatchObject({ watched: 11 });
    await until(() => other.readPast(NETWORK, new Date(chain.now().getTime() - 1)));

    const at = new Date();
    expect(await other.readPast(NETWORK, new Date(at.getTime() + 3_600_000))).toBe(false);
    expect(await other.readPast(NETWORK, new Date(chain.now().getTime() - 1))).toBe(true);
    expect(await other.readPast('bitcoin-testnet', at)).toBe(true);
    const read = { height: chain.height(), tip: chain.height() };
    await until(async () => JSON.stringify(await other.details()).includes(JSON.stringify(read).slice(1, -1)));

    const lines: string[] = [];
    const command = {
      db: payments.pool,
      assets: sepolia.assets,
      networks: [NETWORK],
      print: (line: string) => lines.push(line),
    };
    expect(await executeChains(['status'], command)).toBe(0);
    expect(lines.splice(0)).toEqual([
      expect.stringMatching(/^ethereum-sepolia: read up to block \d+ \(main-.*transfers may/),
    ]);
    const received = `${NETWORK},${sepolia.addressAt(2)},f00dcafe,0/2,${usdc.id},USDC,10.000000,1`;
    const ofUnpaid = await orderAt(6);
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
    await other.running.stop();
  },
  TIMEOUT_MS,
);

test(
  'catches up oldest first, and records how far it read',
  async () => {
    const chain = simulatedChain();
    const network = 'catch-up';
    const before = startProcess(chain.source, network);
    await until(() => before.running.progress().get(network)?.state === 'at_tip');
    await before.running.stop();
    const orderId = await orderAt(3);
    const money = transferTo(3, '0xd');
    const block = chain.mine(money);
    const seenAt = chain.now();
    chain.mineMany(30);
    const after = startProcess(chain.source, network);
    expect(await paymentOf(money, 'applied')).toMatchObject({ order_id: orderId, block });
    await until(() => after.running.progress().get(network)?.height === chain.height());
    const stream = `${CHAIN_STREAM_PREFIX}${network}`;
    await until(async () => (await readStream(payments.client, stream, ChainEvent))?.length === 1);
    const { rows } = await payments.pool.query('select seen_at from payments.chain_transfers where id = $1', [
      money.id,
    ]);
    expect(rows).toEqual([{ seen_at: seenAt }]);
    await after.running.stop();
  },
  TIMEOUT_MS,
);

test(
  'halts on the wrong chain, shows why, and goes on when an operator asks for a rescan of the right one',
  async () => {
    const chain = simulatedChain();
    const network = 'wrong-chain';
    let isWrong = true;
    const source: ChainSource = {
      ...chain.source,
      verify: async () => {
        if (isWrong) throw new WrongChainError('node 1 has chain id 1, not 11155111');
      },
    };
    const first = startProcess(source, network);
    await until(() => first.running.progress().get(network)?.state === 'halted');
    const halted = { height: null, halted: 'node 1 has chain id 1, not 11155111' };
    await until(async () => JSON.stringify(await first.details()).includes('chain id 1'));
    expect(await first.details()).toMatchObject({ chains: { [network]: halted } });
    expect(await first.readPast(network, new Date(0))).toBe(false);
    await first.running.stop();

    isWrong = false;
    const lines: string[] = [];
    const command = { db: payments.pool, assets: [], networks: [network], print: (line: string) => lines.push(line) };
    await executeChains(['rescan', '--network', network, '--from', '1'], command);
    await expect(executeChains(['rescan', '--network', 'other', '--from', '1'], command)).rejects.toThrow(
      /no network other/,
    );
    const second = startProcess(source, network);
    await until(() => second.running.progress().get(network)?.state === 'at_tip');
    await until(async () => !JSON.stringify(await second.details()).includes('halted'));
    await second.running.stop();
  },
  TIMEOUT_MS,
);
