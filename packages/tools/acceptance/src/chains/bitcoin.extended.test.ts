import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../harness/until.ts';
import { type BitcoinStack, dueOf, onEachBitcoinNode, startBitcoinStack } from './bitcoin-stack.ts';

const SLOW = 120_000;

onEachBitcoinNode('deposits on a Bitcoin chain', (name) => {
  let bitcoin: BitcoinStack;
  beforeAll(async () => {
    bitcoin = await startBitcoinStack(name);
  }, SLOW);
  afterAll(() => bitcoin?.stop(), SLOW);

  const send = (...payees: { address: string; units: bigint }[]) => bitcoin.wallet.pay(bitcoin.node.call, payees);
  const mine = (count = 1) => bitcoin.mine(count);

  test(
    'a payment is received from the mempool, and applied once a block contains it',
    async () => {
      const { order: created, deposit } = await bitcoin.order();
      const { txid } = await send(dueOf(deposit));
      await bitcoin.desk.sees(created.id, {
        status: 'awaiting_payment',
        payments: [{ status: 'received', tx_hash: txid }],
      });
      const [hash] = await mine();
      const { order: paid, events } = await bitcoin.desk.hears(created.id, {
        status: 'paid',
        payments: [{ status: 'applied', tx_hash: txid }],
      });
      expect(paid.payments[0]!.block!.hash).toBe(hash);
      expect(events).toEqual(expect.arrayContaining(['payment:applied', 'order:paid']));
    },
    SLOW,
  );

  test(
    'an underpayment and a second part pay an order',
    async () => {
      const { order: created, deposit } = await bitcoin.order();
      const { address, units } = dueOf(deposit);
      await send({ address, units: units / 2n });
      await mine();
      await bitcoin.desk.sees(created.id, { status: 'partially_paid', payments: [{ status: 'applied' }] });
      await send({ address, units: units - units / 2n });
      await mine();
      await bitcoin.desk.hears(created.id, {
        status: 'paid',
        payments: [{ status: 'applied' }, { status: 'applied' }],
      });
    },
    SLOW,
  );

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
    'an overpayment leaves a surplus, and the same address paid again has an orphan',
    async () => {
      const { order: created, deposit } = await bitcoin.order();
      const { address, units } = dueOf(deposit);
      await send({ address, units: units + 700n });
      await mine();
      await bitcoin.desk.sees(created.id, {
        status: 'paid',
        payments: [{ status: 'applied', unapplied_amount: '0.00000700' }],
      });
      await send({ address, units });
      await mine();
      await bitcoin.desk.hears(created.id, {
        status: 'paid',
        payments: [{ status: 'applied' }, { status: 'orphan', orphan_reason: 'already_paid' }],
      });
    },
    SLOW,
  );

  test(
    'a payment of a canceled order is an orphan',
    async () => {
      const { order: created, deposit } = await bitcoin.order();
      await bitcoin.desk.shop.api.cancel(created.id);
      await send(dueOf(deposit));
      await mine();
      const payment = { status: 'orphan', orphan_reason: 'canceled' } as const;
      await bitcoin.desk.hears(created.id, { status: 'canceled', payments: [payment] });
    },
    SLOW,
  );

  test(
    'a payment of an expired order is an orphan, and one that the mempool had before pays it',
    async () => {
      const [late, inTime] = [await bitcoin.order(), await bitcoin.order()];
      await send(dueOf(inTime.deposit));
      await bitcoin.desk.sees(inTime.order.id, { status: 'awaiting_payment', payments: [{ status: 'received' }] });
      for (const { id } of [late.order, inTime.order])
        await bitcoin.desk.shop.api.send('POST', `/debug/orders/${id}/advance-time`, { body: { minutes: 61 } });
      // Block times are whole seconds, and this one must be later than the advance.
      await sleep(1_000);
      await send(dueOf(late.deposit));
      await mine();
      const payment = { status: 'orphan', orphan_reason: 'late' } as const;
      await bitcoin.desk.hears(late.order.id, { status: 'expired', payments: [payment] });
      await bitcoin.desk.hears(inTime.order.id, { status: 'paid', payments: [{ status: 'applied' }] });
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
