import {
  type AnvilOptions,
  type ChainNode,
  deployTestTokens,
  evmAssetOf,
  mineBlocks,
  pay,
  type RpcCall,
  setClock,
  startAnvil,
} from '@cpg/local-chain';
import { isAvailable, LOCAL_NETWORK, untilChain } from '../harness/chains.ts';
import { type NodeRoute, routeTo } from '../harness/proxies.ts';
import type { Deposit } from './desk.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';
import {
  nodeDown,
  type NodeFault,
  payThrough,
  replaceNode,
  type RoutedStack,
  untilBehind,
  untilHalted,
} from './node-faults.ts';

/** Reading begins some blocks below the tip, and above block 0. */
const BLOCKS_BEFORE = 80;
/** As real chains, all nodes have the same block 0. */
const GENESIS_SECONDS = 1_700_000_000;

/** Starts a node whose chain has the test tokens. */
const startChain = async (options: AnvilOptions = {}): Promise<ChainNode> => {
  const node = await startEmptyChain(options);
  await setClock(node.call);
  await deployTestTokens(node.call);
  return node;
};
const startEmptyChain = (options: AnvilOptions = {}): Promise<ChainNode> =>
  startAnvil({ moreArgs: ['--timestamp', String(GENESIS_SECONDS)], ...options });

onEvm('faults of an EVM node', () => {
  let node: ChainNode;
  let route: NodeRoute;
  let evm: EvmStack;
  let routed: RoutedStack;
  let other: ChainNode | undefined;

  beforeAll(async () => {
    node = await startChain();
    await mineBlocks(node.call, BLOCKS_BEFORE);
    route = await routeTo(node);
    evm = await startEvmStack(1, { nodeUrls: [route.url] });
    routed = { stack: evm.stack, network: LOCAL_NETWORK, route };
  });
  afterEach(async () => {
    route.leadTo(node);
    await other?.stop();
  });
  afterAll(async () => {
    await evm?.stop();
    route?.close();
    await node?.stop();
  });

  const payDue = async (call: RpcCall, { asset, address, amount_units }: Deposit) =>
    (await pay(call, evmAssetOf(asset), address, BigInt(amount_units))).transactionHash;
  const survives = (fault: NodeFault) =>
    payThrough(evm.desk, evm.desk.order, (deposit) => payDue(node.call, deposit), fault);
  const heightOf = async (call: RpcCall) => Number(await call('eth_blockNumber'));
  const payOnHigherChain = async ({ call }: ChainNode, deposit: Deposit) => {
    await payDue(call, deposit);
    await mineBlocks(call, await heightOf(node.call));
  };

  test('money that arrives while the node is down is found once it is back', () => survives(nodeDown(routed)));

  test('a node that is behind changes nothing', async () => {
    await survives({
      begin: async () => {
        const height = (await heightOf(node.call)) - 1;
        const moreArgs = ['--fork-url', node.url, '--fork-block-number', String(height), '--no-storage-caching'];
        await replaceNode(routed, (other = await startAnvil({ moreArgs })));
        await untilBehind(routed);
      },
      end: async () => route.leadTo(node),
    });
  });

  test.each([
    { fault: 'was wiped', reason: /has no code on node 1/, start: startEmptyChain },
    { fault: 'has other blocks', reason: /none of the last \d+ blocks/, start: startChain },
    { fault: 'has another chain', reason: /serves eip155:1,/, start: () => startChain({ chainId: 1 }) },
  ])(
    'a node that $fault changes nothing, and reading goes on by itself once it is repaired',
    async ({ start, reason }) => {
      await survives({
        begin: async (unpaid) => {
          other = await start();
          if (start !== startEmptyChain) await payOnHigherChain(other, unpaid);
          await replaceNode(routed, other);
          await untilHalted(routed, reason);
        },
        end: async () => {
          route.leadTo(node);
          await untilChain(evm.stack, LOCAL_NETWORK, isAvailable);
        },
      });
    },
  );
});
