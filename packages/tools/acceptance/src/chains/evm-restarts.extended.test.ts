import { evmAssetOf, mineBlocks, pay, type RpcCall } from '@cpg/local-chain';
import { rpcOf } from '../harness/chains.ts';
import { until } from '../harness/until.ts';
import type { Deposit } from './desk.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';

onEvm('restarts around an EVM chain', () => {
  let evm: EvmStack;
  beforeAll(async () => (evm = await startEvmStack(2)));
  afterAll(() => evm?.stop());

  const payDue = (call: RpcCall, { asset, address, amount_units }: Deposit) =>
    pay(call, evmAssetOf(asset), address, BigInt(amount_units));

  test('payments that was killed reads the blocks that it missed, oldest first', async () => {
    const { order, deposit } = await evm.desk.order();
    const isBack = evm.stack.kill('payments');
    await payDue(evm.call, deposit);
    await mineBlocks(evm.call, 300);
    await isBack;
    await evm.desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied' }] });
  });

  test('deposits go on after the chain was unavailable', async () => {
    const { order, deposit } = await evm.desk.order();
    // It saves its blocks every five seconds, and when it is asked to end.
    await evm.stack.kill('chain', 'SIGTERM');
    await until('the chain to answer', () => evm.call('eth_chainId'));
    await payDue(evm.call, deposit);
    await mineBlocks(evm.call);
    await evm.desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied' }] });
  });

  test('a restart of everything keeps blocks and their hashes, and orders can be paid afterwards', async () => {
    const { order, deposit } = await evm.desk.order();
    const tip = await evm.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false);
    await evm.stack.interrupt();
    const stack = await evm.stack.startAgain();
    const call = rpcOf(stack)!;
    expect(await call('eth_getBlockByNumber', 'latest', false)).toMatchObject({ hash: tip.hash });
    await payDue(call, deposit);
    await mineBlocks(call);
    await until('the order to be paid', async () => (await evm.desk.shop.api.order(order.id)).status === 'paid');
    const { desk } = evm;
    evm = { ...evm, stack, stop: () => desk.close().then(stack.stop) };
  });
});
