import { BITCOIN_NODES, bitcoinWallet, connectPeers, copyBlocks } from '@cpg/local-chain';
import { isAvailable, untilChain } from '../harness/chains.ts';
import { BITCOIN_NETWORK, type BitcoinStack, dueOf, onEachBitcoinNode, startBitcoinStack } from './bitcoin-stack.ts';
import {
  nodeDown,
  type NodeFault,
  payThrough,
  replaceNode,
  type RoutedStack,
  swapNode,
  untilBehind,
  untilHalted,
} from './node-faults.ts';

onEachBitcoinNode('faults of a Bitcoin node', (name) => {
  let bitcoin: BitcoinStack;
  let routed: RoutedStack;
  beforeAll(async () => {
    bitcoin = await startBitcoinStack(name);
    routed = { ...bitcoin, network: BITCOIN_NETWORK };
  });
  afterAll(() => bitcoin?.stop());

  const survives = (fault: NodeFault) =>
    payThrough(
      bitcoin.desk,
      bitcoin.order,
      async (deposit) => {
        const { txid } = await bitcoin.wallet.pay(bitcoin.node.call, [dueOf(deposit)]);
        await bitcoin.mine();
        return txid;
      },
      fault,
    );
  const tip = () => bitcoin.node.call<number>('getblockcount');

  test('money that arrives while the node is down is found once it is back', () => survives(nodeDown(routed)));

  test.each([
    { fault: 'is behind', has: (height: number) => height - 1 },
    { fault: 'was wiped', has: () => 0 },
  ])('a node that $fault changes nothing until it has the blocks again', async ({ has }) => {
    const other = await BITCOIN_NODES[name].start({ miningAddress: bitcoinWallet(9).address });
    try {
      await survives({
        begin: async () => {
          await copyBlocks(bitcoin.node, other, has(await tip()));
          await replaceNode(routed, other);
          await untilBehind(routed);
        },
        end: () => connectPeers(other, bitcoin.node),
      });
    } finally {
      bitcoin.route.leadTo(bitcoin.node);
      await other.stop();
    }
  });

  // The genesis block of signet begins with 00000008819873e9.
  test.each([
    { replaced: 'after an outage', replace: replaceNode },
    { replaced: 'between two questions', replace: swapNode },
  ])(
    'a node of another chain that takes its place $replaced changes nothing until it is repaired',
    async ({ replace }) => {
      const other = await BITCOIN_NODES[name].start({ miningAddress: bitcoinWallet(9).address, chain: 'signet' });
      try {
        await survives({
          begin: async () => {
            await replace(routed, other);
            await untilHalted(routed, /00000008819873e9/);
          },
          end: async () => {
            bitcoin.route.leadTo(bitcoin.node);
            await untilChain(bitcoin.stack, BITCOIN_NETWORK, isAvailable);
          },
        });
      } finally {
        bitcoin.route.leadTo(bitcoin.node);
        await other.stop();
      }
    },
  );
});
