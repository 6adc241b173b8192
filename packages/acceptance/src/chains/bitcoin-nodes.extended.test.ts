import { BITCOIN_NODES, bitcoinWallet, connectPeers, copyBlocks } from '@cpg/local-chain';
import { BITCOIN_NETWORK, type BitcoinStack, dueOf, startBitcoinStack } from './bitcoin-stack.ts';
import { payThrough, replaceNode, type RoutedStack, takeNodeDown, untilBehind } from './node-faults.ts';
import { onEachBitcoinNode } from './on-bitcoin.ts';

const SLOW = 180_000;

onEachBitcoinNode('faults of a Bitcoin node', (name) => {
  let bitcoin: BitcoinStack;
  let routed: RoutedStack;
  beforeAll(async () => {
    bitcoin = await startBitcoinStack(name);
    routed = { ...bitcoin, network: BITCOIN_NETWORK };
  }, SLOW);
  afterAll(() => bitcoin?.stop(), SLOW);

  const survives = (begin: () => Promise<void>, end: () => Promise<void>) =>
    payThrough(
      bitcoin.desk,
      bitcoin.order,
      async (deposit) => {
        const { txid } = await bitcoin.wallet.pay(bitcoin.node.call, [dueOf(deposit)]);
        await bitcoin.mine();
        return txid;
      },
      { begin, end },
    );
  const tip = () => bitcoin.node.call<number>('getblockcount');

  test(
    'money that arrives while the node is down is found once it is back',
    async () => {
      let end: () => Promise<void>;
      await survives(
        async () => void (end = await takeNodeDown(routed)),
        () => end(),
      );
    },
    SLOW,
  );

  test.each([
    { fault: 'is behind', has: (height: number) => height - 1 },
    { fault: 'was wiped', has: () => 0 },
  ])(
    'a node that $fault changes nothing until it has the blocks again',
    async ({ has }) => {
      const other = await BITCOIN_NODES[name].start({ miningAddress: bitcoinWallet(9).address });
      try {
        await survives(
          async () => {
            await copyBlocks(bitcoin.node, other, has(await tip()));
            await replaceNode(routed, other);
            await untilBehind(routed);
          },
          () => connectPeers(other, bitcoin.node),
        );
      } finally {
        bitcoin.route.leadTo(bitcoin.node);
        await other.stop();
      }
    },
    SLOW,
  );
});
