import { BITCOIN_LIES } from './bitcoin-lies.ts';
import { BITCOIN_NETWORK, type BitcoinStack, onEachBitcoinNode, startBitcoinStack } from './bitcoin-stack.ts';
import { type LyingNode, startLyingNode } from './lying-node.ts';
import { type LyingChain, lyingSeeds, requirePaid, type Sale, survivesLies } from './lying-nodes.ts';

const SLOW = 240_000;
/** Of the asset in the sandbox: one block more than the one that has the transfer. */
const CONFIRMING_BLOCKS = 2;
/** Of one seed: three orders in two parts each. */
const MOST_PAYMENTS = 6;
const seeds = lyingSeeds(25, 2_001);

onEachBitcoinNode('one of two Bitcoin nodes lies', (name) => {
  let bitcoin: BitcoinStack;
  let nodes: LyingNode[];
  let chain: LyingChain;
  const sales: Sale[] = [];

  beforeAll(async () => {
    nodes = [];
    bitcoin = await startBitcoinStack(name, async (node) => {
      nodes.push(await startLyingNode(node), await startLyingNode(node));
      return { CHAIN_URLS: JSON.stringify({ [BITCOIN_NETWORK]: nodes.map(({ url }) => url) }) };
    });
    const { desk, wallet, node } = bitcoin;
    await wallet.fund(node.call, seeds.length * MOST_PAYMENTS);
    const send = async (address: string, units: bigint) => {
      const { txid } = await wallet.pay(node.call, [{ address, units }]);
      return { txHash: txid, units };
    };
    chain = {
      stack: bitcoin.stack,
      network: BITCOIN_NETWORK,
      nodes,
      lies: BITCOIN_LIES,
      height: () => node.call<number>('getblockcount'),
      open: async (random) => {
        const { order, deposit } = await bitcoin.order();
        const { address } = deposit;
        const due = BigInt(deposit.amount_units);
        const half = due / 2n;
        const plan = random.pick(['exact', 'parts', 'over', 'short'] as const);
        return async () => {
          const amounts = { exact: [due], parts: [half, due - half], over: [due + half], short: [half] }[plan];
          const sent = [];
          for (const units of amounts) sent.push(await send(address, units));
          await bitcoin.mine();
          return { order, address, status: plan === 'short' ? 'partially_paid' : 'paid', sent };
        };
      },
      confirm: async () => void (await bitcoin.mine(CONFIRMING_BLOCKS)),
      received: async () => null,
      order: (id) => desk.shop.api.order(id),
    };
  }, SLOW);
  afterAll(async () => {
    await bitcoin?.stop();
    await Promise.all((nodes ?? []).map(({ close }) => close()));
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
