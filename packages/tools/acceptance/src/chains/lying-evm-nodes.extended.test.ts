import {
  type ChainNode,
  deployForwarder,
  deployTestTokens,
  evmAssetOf,
  mineBlocks,
  pay,
  setClock,
  startAnvil,
} from '@cpg/local-chain';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { EVM_LIES } from './evm-lies.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';
import { type LyingNode, startLyingNode } from './lying-node.ts';
import { type LyingChain, lyingSeeds, requirePaid, type Sale, survivesLies } from './lying-nodes.ts';

const SLOW = 240_000;
const CONFIRMATIONS = 2;

/** Sends an amount in one or several transfers. Resolves to the transfers. */
type Send = (units: bigint) => Promise<Sale['sent']>;

describe.each([
  { title: 'one of two EVM nodes lies', count: 2, seeds: lyingSeeds(90) },
  { title: 'the only EVM node lies for a while', count: 1, seeds: lyingSeeds(60, 1_001) },
])('$title', ({ count, seeds }) => {
  onEvm('with each seed', () => {
    let anvil: ChainNode;
    let evm: EvmStack;
    let nodes: LyingNode[];
    let chain: LyingChain;
    const sales: Sale[] = [];

    beforeAll(async () => {
      anvil = await startAnvil();
      await setClock(anvil.call);
      await deployTestTokens(anvil.call);
      const forwarder = await deployForwarder(anvil.call);
      nodes = await Promise.all(Array.from({ length: count }, () => startLyingNode(anvil)));
      evm = await startEvmStack(CONFIRMATIONS, { nodeUrls: nodes.map(({ url }) => url) });
      const { call } = anvil;

      const open: LyingChain['open'] = async (random) => {
        const { order, deposit } = await evm.desk.order({ payment_currency: random.pick(['USDT', 'USDC', 'ETH']) });
        const { address } = deposit;
        const asset = evmAssetOf(deposit.asset);
        const direct: Send = async (units) => [
          { txHash: (await pay(call, asset, address, units)).transactionHash, units },
        ];
        const byContract: Send = async (units) => {
          if (asset === 'native') return [{ txHash: (await forwarder.forward(address, units)).transactionHash, units }];
          await pay(call, asset, forwarder.address, units);
          const first = units / 3n;
          const { transactionHash: txHash } = await forwarder.sendTwice(asset.contract, address, first, units - first);
          return [first, units - first].map((part) => ({ txHash, units: part }));
        };
        const due = BigInt(deposit.amount_units);
        const plan = random.pick(['exact', 'parts', 'over', 'short'] as const);
        const [send, another] = [random.pick([direct, byContract]), random.pick([direct, byContract])];
        const half = due / 2n;
        return async () => {
          const sent = {
            exact: () => send(due),
            parts: async () => [...(await send(half)), ...(await another(due - half))],
            over: () => send(due + half),
            short: () => send(half),
          };
          const status = plan === 'short' ? 'partially_paid' : 'paid';
          return { order, address, status, sent: await sent[plan]() };
        };
      };
      const balanceOf = async ({ order, address }: Sale) => {
        const { asset } = order.deposit_instructions.find((each) => 'asset' in each) as { asset: string };
        const on = evmAssetOf(asset);
        if (on === 'native') return BigInt(await call<string>('eth_getBalance', address, 'latest'));
        const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`; // balanceOf(address)
        return BigInt(await call<string>('eth_call', { to: on.contract, data }, 'latest'));
      };
      chain = {
        stack: evm.stack,
        network: LOCAL_NETWORK,
        nodes,
        lies: EVM_LIES,
        height: async () => Number(await call('eth_blockNumber')),
        open,
        confirm: () => mineBlocks(call, CONFIRMATIONS),
        received: balanceOf,
        order: (id) => evm.desk.shop.api.order(id),
      };
    }, SLOW);
    afterAll(async () => {
      await evm?.stop();
      await Promise.all((nodes ?? []).map(({ close }) => close()));
      await anvil?.stop();
    }, SLOW);

    test.each(seeds)('seed %i', async (seed) => void sales.push(...(await survivesLies(chain, seed))), SLOW);

    test(
      'and no later seed changed an earlier order',
      async () => {
        for (const sale of sales) await requirePaid(chain, sale);
      },
      SLOW,
    );
  });
});
