import { type NodeProxy, startNodeProxy } from '../../testing/jest-node-proxy.ts';
import { testWallet } from '../../testing/jest-bitcoin.ts';
import { openNodes, type Nodes } from '../nodes/nodes.ts';
import { addressOf } from './addresses.ts';
import { spendsFrom } from './spent-coins.ts';

const UNKNOWN = { error: { code: -5, message: 'No such mempool transaction. Use -txindex' } };
const merchant = testWallet(1);
const stranger = testWallet(2);
const payer = testWallet(3);

/** Two coins, of which only the second is the merchant's. */
const earlier = stranger.pay({ txid: 'ab'.repeat(32), index: 0, units: 10_000n }, [
  { address: stranger.address, units: 1_000n },
  { address: merchant.address, units: 2_000n },
]);
const spending = { txHash: 'cd'.repeat(32), block: { height: 7, hash: 'ef'.repeat(32) } };
const mixed = { ...spending, spends: [`${earlier.id}:0`, `${earlier.id}:1`] };

let node: NodeProxy;
let nodes: Nodes;
let ask: ReturnType<typeof spendsFrom>;
beforeEach(async () => {
  node = await startNodeProxy(async () => earlier.raw);
  nodes = openNodes({ urls: [node.url], busyWaitsMs: [] }, async () => {});
  ask = spendsFrom(nodes, addressOf('regtest'));
});
afterEach(async () => {
  await nodes.close();
  await node.close();
});

test('finds the address of any of the spent outputs', async () => {
  expect(await ask(mixed, [merchant.address])).toBe(true);
  expect(await ask(mixed, [payer.address, stranger.address])).toBe(true);
  expect(await ask(mixed, [payer.address])).toBe(false);
  expect(await ask({ ...mixed, spends: [`${earlier.id}:0`] }, [merchant.address])).toBe(false);
  expect(await ask(mixed, [])).toBe(false);
});

test('believes no node that shows another transaction than the spent one', async () => {
  const other = payer.pay({ txid: 'ab'.repeat(32), index: 1, units: 10_000n }, [
    { address: merchant.address, units: 1n },
  ]);
  node.falsify = () => ({ result: other.raw });
  await expect(ask(mixed, [merchant.address])).rejects.toMatchObject({ name: 'ChainNodeError', fault: 'mismatch' });
});

const scriptOf = (address: string) =>
  address === merchant.address ? `0014${'11'.repeat(20)}` : '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac';
const P2WPKH_OF_11 = addressOf('regtest')(Buffer.from(scriptOf(merchant.address), 'hex'))!;

/** A node without an index of transactions. `vin` is its answer about the transaction in its block. */
const withoutIndex = (vin: unknown) => {
  node.falsify = ({ params }) => (params[1] === 2 ? { result: { vin } } : UNKNOWN);
};

test('asks a node without an index for the outputs that it keeps for undoing the block', async () => {
  withoutIndex([
    { prevout: { scriptPubKey: { hex: scriptOf(stranger.address) } } },
    { prevout: { scriptPubKey: { hex: scriptOf(merchant.address) } } },
  ]);
  expect(await ask(mixed, [P2WPKH_OF_11])).toBe(true);
  expect(await ask(mixed, [payer.address])).toBe(false);
  expect(node.asked.at(-1)).toEqual({
    method: 'getrawtransaction',
    params: [spending.txHash, 2, spending.block.hash],
  });
});

test('says what is missing where no node shows the spent outputs', async () => {
  const missing = { name: 'ChainNodeError', fault: 'refused', message: expect.stringMatching(/txindex/) };
  withoutIndex([{ txid: earlier.id, vout: 0 }]);
  await expect(ask(mixed, [merchant.address])).rejects.toMatchObject(missing);
  node.falsify = ({ params }) =>
    params.length === 3 ? { error: { code: -1, message: 'wrong number of params' } } : UNKNOWN;
  await expect(ask(mixed, [merchant.address])).rejects.toMatchObject(missing);
});
