import { deployForwarder, evmAssetOf, type Forwarder, mineBlocks, pay, TEST_TOKENS } from '@cpg/local-chain';
import type { Deposit } from './desk.ts';
import { type EvmStack, onEvm, startEvmStack } from './evm-stack.ts';

const SLOW = 120_000;
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
  const confirm = () => mineBlocks(evm.call);

  test('an exact payment is received, and applied once it is confirmed', async () => {
    const { order, deposit } = await evm.desk.order();
    const { transactionHash, blockHash, blockNumber } = await payUnits(deposit, 10n * UNIT);
    const block = { height: Number(blockNumber), hash: blockHash };
    await evm.desk.sees(order.id, {
      status: 'awaiting_payment',
      payments: [{ status: 'received', tx_hash: transactionHash, block }],
    });
    await confirm();
    const { events } = await evm.desk.hears(order.id, {
      status: 'paid',
      payments: [{ status: 'applied', paid_amount: '10.000000', tx_hash: transactionHash, block }],
    });
    expect(events).toEqual(expect.arrayContaining(['order:created', 'payment:applied', 'order:paid']));
  });

  test('an underpayment leaves the order partially paid, and a second part pays it', async () => {
    const { order, deposit } = await evm.desk.order();
    await payUnits(deposit, 4n * UNIT);
    await confirm();
    await evm.desk.hears(order.id, {
      status: 'partially_paid',
      payments: [{ status: 'applied', paid_amount: '4.000000' }],
    });
    await payUnits(deposit, 6n * UNIT);
    await confirm();
    await evm.desk.hears(order.id, {
      status: 'paid',
      payments: [
        { status: 'applied', paid_amount: '4.000000' },
        { status: 'applied', paid_amount: '6.000000' },
      ],
    });
  });

  test('an overpayment pays the order, and the surplus is not applied', async () => {
    const { order, deposit } = await evm.desk.order();
    await payUnits(deposit, 12n * UNIT);
    await confirm();
    const payment = { status: 'applied', applied_amount: '10.000000', unapplied_amount: '2.000000' } as const;
    await evm.desk.hears(order.id, { status: 'paid', payments: [payment] });
  });

  test('an address that is paid again has an orphan', async () => {
    const { order, deposit } = await evm.desk.order();
    await payUnits(deposit, 10n * UNIT);
    await confirm();
    await evm.desk.sees(order.id, { status: 'paid', payments: [{ status: 'applied' }] });
    await payUnits(deposit, 10n * UNIT);
    await confirm();
    await evm.desk.hears(order.id, {
      status: 'paid',
      payments: [{ status: 'applied' }, { status: 'orphan', orphan_reason: 'already_paid' }],
    });
  });

  test('a payment of a canceled order is an orphan', async () => {
    const { order, deposit } = await evm.desk.order();
    await evm.desk.shop.api.cancel(order.id);
    await payUnits(deposit, 10n * UNIT);
    await confirm();
    await evm.desk.hears(order.id, { status: 'canceled', payments: [{ status: 'orphan', orphan_reason: 'canceled' }] });
  });

  test('a payment of an expired order is an orphan', async () => {
    const { order, deposit } = await evm.desk.order();
    const path = `/debug/orders/${order.id}/advance-time`;
    expect((await evm.desk.shop.api.send('POST', path, { body: { minutes: 61 } })).body.status).toBe('expired');
    // Blocks have whole seconds: this one is to be later than the advance.
    await evm.call('evm_increaseTime', 1);
    await payUnits(deposit, 10n * UNIT);
    await confirm();
    await evm.desk.hears(order.id, { status: 'expired', payments: [{ status: 'orphan', orphan_reason: 'late' }] });
  });

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
