import { evmAssetOf, mineBlocks, pay, PAYER } from '@cpg/local-chain';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { admin } from '../harness/merchants.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';
import { testRefund } from './refunds.ts';

const DESTINATION = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';

onEvm('refunds on an EVM chain', () => {
  let evm: EvmStack;
  beforeAll(async () => void (evm = await startEvmStack(2)));
  afterAll(() => evm?.stop());

  test.each(['USDT', 'ETH'] as const)(
    'a refund of an order in %s is pending, sent and settled by the transfer of the wallet',
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

  test('a late payment that a requested refund pays back is neither captured nor deleted', async () => {
    const { desk, stack, call } = evm;
    const { order, deposit } = await desk.order();
    await desk.passDeadline(order.id);
    await desk.sees(order.id, { status: 'expired', payments: [] });
    await call('evm_increaseTime', 1); // block times are whole seconds
    await pay(call, evmAssetOf(deposit.asset), deposit.address, BigInt(deposit.amount_units));
    await mineBlocks(call);
    const { payments } = await desk.sees(order.id, { status: 'expired', payments: [{ orphan_reason: 'late' }] });
    await admin(stack, ['refund-addresses', 'add', desk.shop.id, '--network', LOCAL_NETWORK, '--address', PAYER]);
    const send = desk.shop.api.send;
    const requested = await send('POST', `/v1/payments/${payments[0]!.id}/refund`, { body: { settle: 'on_chain' } });
    const { refund_id: refundId } = requested.body as { refund_id: string };

    const capture = () => send('POST', `/v1/orders/${order.id}/capture`);
    for (const answer of [await capture(), await send('DELETE', `/v1/orders/${order.id}`)]) {
      expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining(refundId) } });
    }
    await send('POST', `/v1/refunds/${refundId}/cancel`);
    expect(await capture()).toMatchObject({ status: 201, body: { status: 'paid' } });
  });
});
