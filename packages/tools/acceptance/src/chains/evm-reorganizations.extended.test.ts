import { evmAssetOf, hexOf, mineBlocks, mined, pay, PAYER, reorganize, sendFrom } from '@cpg/local-chain';
import type { Deposit } from './desk.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';

const UNIT = 1_000_000n;
const GRACE_BLOCKS = 6;
const OTHER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

onEvm('reorganizations of an EVM chain', () => {
  let evm: EvmStack;
  beforeAll(async () => (evm = await startEvmStack(3)));
  afterAll(() => evm?.stop());

  const payTen = (deposit: Deposit) => pay(evm.call, evmAssetOf(deposit.asset), deposit.address, 10n * UNIT);
  const mine = (count: number) => mineBlocks(evm.call, count);
  const seen = async () => {
    const { order, deposit } = await evm.desk.order();
    const receipt = await payTen(deposit);
    await evm.desk.sees(order.id, { status: 'awaiting_payment', payments: [{ status: 'received' }] });
    return { order, deposit, hash: receipt.transactionHash };
  };
  const paid = async () => {
    const payment = await seen();
    await mine(2);
    await evm.desk.sees(payment.order.id, { status: 'paid', payments: [{ status: 'applied' }] });
    return payment;
  };

  test('a payment that leaves the chain before it is applied counts again when it returns', async () => {
    const { order, hash } = await seen();
    await mine(1);
    await reorganize(evm.call, 2, [{ hash, block: 1 }]);
    const receipt = await mined(evm.call, hash);
    const block = { height: Number(receipt.blockNumber), hash: receipt.blockHash };
    await mine(1);
    const [payment] = (await evm.desk.shop.api.order(order.id)).payments;
    expect(payment!.status).toBe('received');
    await mine(1);
    await evm.desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash: hash, block }] });
  });

  test('a payment mined again at another height and log index is the same payment', async () => {
    const { order, hash } = await paid();
    const [before] = (await evm.desk.shop.api.order(order.id)).payments;
    const { deposit: other } = await evm.desk.order();
    const transfer = await payTen(other);
    // The other transfer goes first into the same block.
    await reorganize(evm.call, 4, [
      { hash, block: 2 },
      { hash: transfer.transactionHash, block: 2 },
    ]);
    await mine(GRACE_BLOCKS + 2);
    const receipt = await mined(evm.call, hash);
    const block = { height: Number(receipt.blockNumber), hash: receipt.blockHash };
    const { order: after } = await evm.desk.hears(order.id, {
      status: 'paid',
      payments: [{ status: 'applied', block }],
    });
    expect(after.payments.map(({ id }) => id)).toEqual([before!.id]);
  });

  test('an applied payment that does not return fails, the order is reversed, and comes back with the money', async () => {
    const { order, hash } = await paid();
    const raw = await evm.call<string>('eth_getRawTransactionByHash', hash);
    await reorganize(evm.call, 3);
    await mine(GRACE_BLOCKS - 1);
    await evm.desk.sees(order.id, { status: 'paid', payments: [{ status: 'applied' }] });
    await mine(2);
    const { events } = await evm.desk.hears(order.id, {
      status: 'reversed',
      payments: [{ status: 'failed', failure_reason: 'reorg' }],
    });
    expect(events).toEqual(expect.arrayContaining(['order:paid', 'payment:failed', 'order:updated']));
    await evm.call('eth_sendRawTransaction', raw);
    await mined(evm.call, hash);
    await mine(2);
    await evm.desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash: hash }] });
  });

  test('a payment whose coins are spent elsewhere never pays the order', async () => {
    const { order, hash } = await seen();
    await reorganize(evm.call, 1);
    // The same nonce: the deposit can never be mined again.
    await mined(evm.call, await sendFrom(evm.call, PAYER, { to: OTHER, value: hexOf(1n) }));
    await mine(GRACE_BLOCKS + 3);
    const { deposit, order: later } = await evm.desk.order();
    await payTen(deposit);
    await mine(2);
    await evm.desk.sees(later.id, { status: 'paid', payments: [{ status: 'applied' }] });
    const { status, payments } = await evm.desk.shop.api.order(order.id);
    expect([status, payments.map((payment) => [payment.tx_hash, payment.status === 'applied'])]).toEqual([
      'awaiting_payment',
      [[hash, false]],
    ]);
  });
});
