import { bitcoinWallet } from '@cpg/local-chain';
import { BITCOIN_NETWORK, type BitcoinStack, onEachBitcoinNode, startBitcoinStack } from './bitcoin-stack.ts';
import { testRefund } from './refunds.ts';

const SLOW = 240_000;

onEachBitcoinNode('refunds on a Bitcoin chain', (name) => {
  let bitcoin: BitcoinStack;
  beforeAll(async () => {
    bitcoin = await startBitcoinStack(name);
  }, SLOW);
  afterAll(() => bitcoin?.stop(), SLOW);

  test(
    'a refund is pending, and settled by a transaction that spends a coin of the wallet',
    async () => {
      const { wallet, node, mine } = bitcoin;
      const send = async (address: string, units: bigint) => (await wallet.pay(node.call, [{ address, units }])).txid;
      const destination = bitcoinWallet(8).address;
      await testRefund(
        {
          ...bitcoin,
          network: BITCOIN_NETWORK,
          wallet: wallet.address,
          destination,
          pay: ({ address }, units) => send(address, units),
          confirm: mine,
          transfer: async ({ amount_units: units }) => ({
            txHash: await send(destination, BigInt(units)),
            isMined: false,
          }),
        },
        'BTC',
      );
    },
    SLOW,
  );
});
