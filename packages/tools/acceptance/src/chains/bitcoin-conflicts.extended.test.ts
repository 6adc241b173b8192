import {
  BITCOIN_NODE_NAMES,
  BITCOIN_NODES,
  type BitcoinNodeName,
  bitcoinWallet,
  connectPeers,
  copyBlocks,
  mineBitcoin,
} from '@cpg/local-chain';
import { chainMetric, isAvailable, rescan, untilChain } from '../harness/chains.ts';
import { BITCOIN_NETWORK, type BitcoinStack, dueOf, onEachBitcoinNode, startBitcoinStack } from './bitcoin-stack.ts';
import type { Deposit } from './desk.ts';

const WINDOW = 144;
const ELSEWHERE = bitcoinWallet(8).address;

/** A second node, of another kind if there is one. */
const otherThan = (name: BitcoinNodeName): BitcoinNodeName =>
  BITCOIN_NODE_NAMES.find((other) => other !== name && BITCOIN_NODES[other].find() !== null) ?? name;

onEachBitcoinNode('coins that are spent twice on a Bitcoin chain', (name) => {
  let bitcoin: BitcoinStack;
  beforeAll(async () => {
    bitcoin = await startBitcoinStack(name);
  });
  afterAll(() => bitcoin?.stop());

  const send = (deposit: Deposit) => bitcoin.wallet.pay(bitcoin.node.call, [dueOf(deposit)]);
  const paysAfterwards = async () => {
    const { order: created, deposit } = await bitcoin.order();
    const { txid } = await send(deposit);
    await bitcoin.mine();
    await bitcoin.desk.hears(created.id, { status: 'paid', payments: [{ status: 'applied', tx_hash: txid }] });
  };

  test('a payment that is replaced in the mempool fails once the replacement is confirmed', async () => {
    const { order: created, deposit } = await bitcoin.order();
    const { txid, spent } = await send(deposit);
    await bitcoin.desk.sees(created.id, {
      status: 'awaiting_payment',
      payments: [{ status: 'received', tx_hash: txid }],
    });
    await bitcoin.wallet.pay(bitcoin.node.call, [{ address: ELSEWHERE, units: 1_000n }], spent);
    await bitcoin.mine();
    const { events } = await bitcoin.desk.hears(created.id, {
      status: 'awaiting_payment',
      payments: [{ status: 'failed', failure_reason: 'double_spend' }],
    });
    expect(events).toEqual(expect.arrayContaining(['payment:failed']));
    expect(events).not.toContain('payment:applied');
  });

  test('a branch of another node that spends the coins elsewhere reverses the order', async () => {
    const { order: created, deposit } = await bitcoin.order();
    const common = await bitcoin.node.call<number>('getblockcount');
    const { spent } = await send(deposit);
    await bitcoin.mine();
    await bitcoin.desk.sees(created.id, { status: 'paid', payments: [{ status: 'applied' }] });
    const other = await BITCOIN_NODES[otherThan(name)].start({ miningAddress: ELSEWHERE });
    await copyBlocks(bitcoin.node, other, common);
    await bitcoin.wallet.pay(other.call, [{ address: ELSEWHERE, units: 1_000n }], spent);
    await mineBitcoin(other.call, 3, ELSEWHERE);
    await connectPeers(bitcoin.node, other);
    const { events } = await bitcoin.desk.hears(created.id, {
      status: 'reversed',
      payments: [{ status: 'failed', failure_reason: 'double_spend' }],
    });
    expect(events).toEqual(expect.arrayContaining(['order:paid', 'payment:failed', 'order:updated']));
    await paysAfterwards();
    await other.stop();
  });

  test('a branch that is deeper than the window changes nothing until an operator asks for a rescan', async () => {
    const { order: created, deposit } = await bitcoin.order();
    const { spent } = await send(deposit);
    const [mined] = await bitcoin.mine(WINDOW + 1);
    const { payments } = await bitcoin.desk.sees(created.id, { status: 'paid', payments: [{ status: 'applied' }] });
    const tip = await bitcoin.node.call<number>('getblockcount');
    await untilChain(bitcoin.stack, BITCOIN_NETWORK, ({ height }) => height === tip);
    await bitcoin.node.call('invalidateblock', mined);
    await bitcoin.wallet.pay(bitcoin.node.call, [{ address: ELSEWHERE, units: 1_000n }], spent);
    await bitcoin.mine(WINDOW + 3);
    const { halted } = await untilChain(bitcoin.stack, BITCOIN_NETWORK, (state) => state.halted !== undefined);
    expect(halted).toMatch(/none of the last 145 blocks/);
    const { environment } = bitcoin.stack;
    expect(await chainMetric({ environment }, 'chain_halted', BITCOIN_NETWORK)).toBe(1);
    expect(await bitcoin.desk.shop.api.order(created.id)).toMatchObject({ status: 'paid', payments });

    await rescan(bitcoin.stack, BITCOIN_NETWORK, payments[0]!.block!.height);
    // A halted chain looks for the request within 30 seconds, and at start.
    await bitcoin.stack.kill('payments');
    await bitcoin.desk.hears(created.id, {
      status: 'reversed',
      payments: [{ status: 'failed', failure_reason: 'double_spend' }],
    });
    await untilChain(bitcoin.stack, BITCOIN_NETWORK, isAvailable);
    await paysAfterwards();
  });
});
