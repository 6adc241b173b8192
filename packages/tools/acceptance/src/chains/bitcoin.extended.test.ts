import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/until.ts';
import { testDeposits } from './deposits.ts';
import { type BitcoinStack, dueOf, onEachBitcoinNode, startBitcoinStack } from './bitcoin-stack.ts';

const SLOW = 240_000;

onEachBitcoinNode('deposits on a Bitcoin chain', (name) => {
  let bitcoin: BitcoinStack;
  beforeAll(async () => {
    bitcoin = await startBitcoinStack(name);
  }, SLOW);
  afterAll(() => bitcoin?.stop(), SLOW);

  const send = (...payees: { address: string; units: bigint }[]) => bitcoin.wallet.pay(bitcoin.node.call, payees);
  const mine = (count = 1) => bitcoin.mine(count);

  testDeposits(() => ({
    desk: bitcoin.desk,
    order: bitcoin.order,
    pay: async ({ address }, units) => ({ txHash: (await send({ address, units })).txid }),
    confirm: async () => (await mine())[0]!,
    passASecond: () => sleep(1_000),
  }));

  test(
    'outputs of one transaction to two orders, and two to one of them, are payments of their own',
    async () => {
      const [one, other] = [await bitcoin.order(), await bitcoin.order()];
      const [due, otherDue] = [dueOf(one.deposit), dueOf(other.deposit)];
      const { txid: tx_hash } = await send({ ...due, units: due.units - 600n }, otherDue, { ...due, units: 600n });
      await mine();
      await bitcoin.desk.hears(other.order.id, { status: 'paid', payments: [{ status: 'applied', tx_hash }] });
      const { order: paid } = await bitcoin.desk.hears(one.order.id, {
        status: 'paid',
        payments: [
          { status: 'applied', tx_hash },
          { status: 'applied', tx_hash },
        ],
      });
      expect(new Set(paid.payments.map(({ provider_id }) => provider_id)).size).toBe(2);
    },
    SLOW,
  );

  test(
    'a payment that the mempool had before the deadline pays the expired order',
    async () => {
      const { order: created, deposit } = await bitcoin.order();
      await send(dueOf(deposit));
      await bitcoin.desk.sees(created.id, { status: 'awaiting_payment', payments: [{ status: 'received' }] });
      await bitcoin.desk.passDeadline(created.id);
      await mine();
      await bitcoin.desk.hears(created.id, { status: 'paid', payments: [{ status: 'applied' }] });
    },
    SLOW,
  );

  test(
    'a payment whose block leaves the chain is the same payment in its new block',
    async () => {
      const { order: created, deposit } = await bitcoin.order();
      const { txid } = await send(dueOf(deposit));
      const [orphaned] = await mine();
      const { payments } = await bitcoin.desk.sees(created.id, { status: 'paid', payments: [{ status: 'applied' }] });
      await bitcoin.node.call('invalidateblock', orphaned);
      // The transaction is back in the mempool, so the next block contains it.
      const [block] = await mine(2);
      await until('the new block of the payment', async () => {
        const [payment] = (await bitcoin.desk.shop.api.order(created.id)).payments;
        return payment!.block?.hash === block;
      });
      const payment = { status: 'applied', tx_hash: txid, id: payments[0]!.id } as const;
      await bitcoin.desk.hears(created.id, { status: 'paid', payments: [payment] });
    },
    SLOW,
  );
});
