import { evmAssetOf, mineBlocks, pay, PAYER } from '@cpg/local-chain';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';
import { testRefund } from './refunds.ts';

const DESTINATION = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';

onEvm('refunds on an EVM chain', () => {
  let evm: EvmStack;
  beforeAll(async () => void (evm = await startEvmStack(2)));
  afterAll(() => evm?.stop());

  test.each([[undefined], ['ETH' as const]])(
    'a refund of an order (%s) is pending, sent and settled by the transfer of the wallet',
    (currency) =>
      testRefund(
        {
          ...evm,
          network: LOCAL_NETWORK,
          // The local chain has one wallet: it plays the payer and the merchant.
          wallet: PAYER,
          destination: DESTINATION,
          pay: ({ asset, address }, units) => pay(evm.call, evmAssetOf(asset), address, units),
          confirm: () => mineBlocks(evm.call),
          transfer: async ({ transaction }) => {
            const { chainId, ...call } = transaction!;
            expect(await evm.call('eth_chainId')).toBe(chainId);
            return { txHash: await evm.call('eth_sendTransaction', { ...call, from: PAYER }), isMined: true };
          },
        },
        currency,
      ),
  );
});
