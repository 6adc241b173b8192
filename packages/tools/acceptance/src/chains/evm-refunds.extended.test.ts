import { evmAssetOf, mineBlocks, pay } from '@cpg/local-chain';
import type { Refund, RefundRequest } from '@cpg/contracts';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { admin } from '../harness/merchants.ts';
import { until } from '../harness/until.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';

const PAYER = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';

onEvm('refunds on an EVM chain', () => {
  let evm: EvmStack;
  beforeAll(async () => void (evm = await startEvmStack(2)));
  afterAll(() => evm?.stop());

  const send = async <T>(path: string, body?: object, expected = 200): Promise<T> => {
    const { status, body: answer } = await evm.desk.shop.api.send('POST', path, { body });
    expect({ path, status, answer }).toMatchObject({ status: expected });
    return answer as T;
  };
  const untilRefund = (id: string, status: Refund['status']): Promise<Refund> =>
    until(`the refund is ${status}`, async () => {
      const { body } = await evm.desk.shop.api.send('GET', `/v1/refunds/${id}`);
      const refund = body as unknown as Refund;
      return refund.status === status && refund;
    });

  test.each([[{}], [{ payment_currency: 'ETH' as const }]])(
    'a refund of an order with %j is pending, sent and settled by the transfer of the wallet',
    async (currency) => {
      const { order, deposit } = await evm.desk.order(currency);
      const asset = evmAssetOf(deposit.asset);
      const { transactionHash } = await pay(evm.call, asset, deposit.address, BigInt(deposit.amount_units));
      await mineBlocks(evm.call);
      const { payments } = await evm.desk.sees(order.id, { status: 'paid', payments: [{ status: 'applied' }] });
      // The local chain has one wallet: it plays the payer and the merchant.
      const { from } = await evm.call<{ from: string }>('eth_getTransactionByHash', transactionHash);
      const declared = ['--network', LOCAL_NETWORK, '--address', from];
      await admin(evm.stack, ['refund-addresses', 'add', evm.desk.shop.id, ...declared]);

      await send(`/v1/payments/${payments[0]!.id}/refund`, { settle: 'on_chain', what: 'all' }, 201);
      const { body } = await evm.desk.shop.api.send('GET', `/v1/refunds?payment_id=${payments[0]!.id}`);
      const { id } = (body as unknown as { items: Refund[] }).items[0]!;
      const request = await send<RefundRequest>(`/v1/refunds/${id}/request`, { destination: PAYER });
      expect(request).toMatchObject({ refund: { status: 'pending', destination: PAYER } });

      const { chainId, ...transaction } = request.transaction!;
      expect(await evm.call('eth_chainId')).toBe(chainId);
      const hash = await evm.call<string>('eth_sendTransaction', { ...transaction, from });
      expect(await untilRefund(id, 'sent')).toMatchObject({ tx_hash: hash });
      await mineBlocks(evm.call);
      expect(await untilRefund(id, 'settled')).toMatchObject({ tx_hash: hash, network: LOCAL_NETWORK });
      const { events } = await evm.desk.hears(order.id, { status: 'reversed', payments: [{ status: 'refunded' }] });
      expect(events).toContain('payment:refunded');
    },
  );
});
