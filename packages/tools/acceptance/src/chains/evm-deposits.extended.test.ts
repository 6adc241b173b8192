import { deployForwarder, evmAssetOf, type Forwarder, mineBlocks, pay, TEST_TOKENS } from '@cpg/local-chain';
import { testDeposits } from './deposits.ts';
import type { Deposit } from './desk.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';

const SLOW = 240_000;
const UNIT = 1_000_000n;
const [USDT, USDC] = TEST_TOKENS;
const ETHER_ORDER = { payment_currency: 'ETH' } as const;

onEvm('deposits on an EVM chain', () => {
  let evm: EvmStack;
  let forwarder: Forwarder;
  beforeAll(async () => {
    evm = await startEvmStack(2);
    forwarder = await deployForwarder(evm.call);
    await pay(evm.call, { contract: USDT.contract }, forwarder.address, 1_000n * UNIT);
  }, SLOW);
  afterAll(() => evm?.stop(), SLOW);

  const payUnits = (deposit: Deposit, units: bigint) =>
    pay(evm.call, evmAssetOf(deposit.asset), deposit.address, units);
  /** Gives the deposit the second confirmation that it needs. */
  const confirm = async () => {
    await mineBlocks(evm.call);
    return (await evm.call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)).hash;
  };

  testDeposits(() => ({
    desk: evm.desk,
    order: evm.desk.order,
    pay: async (...given) => {
      const { transactionHash: txHash, blockNumber, blockHash } = await payUnits(...given);
      return { txHash, block: { height: Number(blockNumber), hash: blockHash } };
    },
    confirm,
    passASecond: () => evm.call('evm_increaseTime', 1),
  }));

  test('another token at the address of an order is an orphan', async () => {
    const { order, deposit } = await evm.desk.order();
    await pay(evm.call, { contract: USDC.contract }, deposit.address, 10n * UNIT);
    await confirm();
    await evm.desk.hears(order.id, {
      status: 'awaiting_payment',
      payments: [{ status: 'orphan', orphan_reason: 'wrong_currency', currency: 'USDC' }],
    });
    await payUnits(deposit, 10n * UNIT);
    await confirm();
    await evm.desk.sees(order.id, { status: 'paid', payments: [{ status: 'orphan' }, { status: 'applied' }] });
  });

  test('coins that a contract sends inside a transaction pay an order', async () => {
    const { order, deposit } = await evm.desk.order(ETHER_ORDER);
    const { transactionHash } = await forwarder.forward(deposit.address, BigInt(deposit.amount_units));
    await confirm();
    await evm.desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash: transactionHash }] });
  });

  test('coins that are sent directly pay an order', async () => {
    const { order, deposit } = await evm.desk.order(ETHER_ORDER);
    await payUnits(deposit, BigInt(deposit.amount_units));
    await confirm();
    await evm.desk.hears(order.id, { status: 'paid', payments: [{ status: 'applied' }] });
  });

  test('reverted transactions pay nothing', async () => {
    const [ether, tokens] = [await evm.desk.order(ETHER_ORDER), await evm.desk.order()];
    const { address, amount_units } = ether.deposit;
    expect((await forwarder.forwardAndRevert(address, BigInt(amount_units))).status).toBe('0x0');
    const reverted = await forwarder.sendAndRevert(USDT.contract, tokens.deposit.address, 10n * UNIT);
    expect(reverted.status).toBe('0x0');
    // Once a later payment is seen, the earlier blocks were read.
    await payUnits(tokens.deposit, UNIT);
    await confirm();
    await evm.desk.hears(tokens.order.id, { status: 'partially_paid', payments: [{ paid_amount: '1.000000' }] });
    await evm.desk.sees(ether.order.id, { status: 'awaiting_payment', payments: [] });
  });

  test('two transfers of one transaction are two payments', async () => {
    const { order, deposit } = await evm.desk.order();
    const { transactionHash: tx_hash } = await forwarder.sendTwice(
      USDT.contract,
      deposit.address,
      3n * UNIT,
      7n * UNIT,
    );
    await confirm();
    const { order: paid } = await evm.desk.hears(order.id, {
      status: 'paid',
      payments: [
        { status: 'applied', paid_amount: '3.000000', tx_hash },
        { status: 'applied', paid_amount: '7.000000', tx_hash },
      ],
    });
    expect(new Set(paid.payments.map(({ provider_id }) => provider_id)).size).toBe(2);
  });
});
