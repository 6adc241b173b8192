import { evmAssetOf, mineBlocks, mined, pay, reorganize } from '@cpg/local-chain';
import { chainOf, LOCAL_NETWORK } from '../harness/local-chain.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { type Desk, openDesk } from './desk.ts';
import { onEvm } from './evm-stack.ts';

const SLOW = 60_000;

onEvm('the chain that npm start runs', () => {
  let stack: Stack;
  let desk: Desk;
  beforeAll(async () => {
    stack = await startStack({ env: { CHAIN: 'on' } });
    desk = await openDesk(stack, LOCAL_NETWORK);
  }, SLOW);
  afterAll(async () => {
    await desk?.close();
    await stack?.stop();
  }, SLOW);

  test(
    'an order is paid on it, and stays paid when a reorganization moves the payment',
    async () => {
      const call = chainOf(stack)!;
      const { order, deposit } = await desk.order();
      const paid = await pay(call, evmAssetOf(deposit.asset), deposit.address, BigInt(deposit.amount_units));
      const tx_hash = paid.transactionHash;
      await desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash }] });
      await mineBlocks(call);
      await reorganize(call, 2, [{ hash: tx_hash, block: 1 }]);
      const { blockNumber, blockHash } = await mined(call, tx_hash);
      const block = { height: Number(blockNumber), hash: blockHash };
      await desk.sees(order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash, block }] });
    },
    SLOW,
  );
});
