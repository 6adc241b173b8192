import { mineBitcoin } from '@cpg/local-chain';
import { until } from '../harness/until.ts';
import { type BitcoinStack, onBitcoin, startBitcoinStack } from './bitcoin-stack.ts';
import type { Deposit } from './desk.ts';

// btcd is built first where it is missing.
const SLOW = 240_000;

onBitcoin('deposits on a Bitcoin chain', () => {
  let bitcoin: BitcoinStack;
  beforeAll(async () => (bitcoin = await startBitcoinStack()), SLOW);
  afterAll(() => bitcoin?.stop(), SLOW);

  const order = () => bitcoin.desk.order({ payment_currency: 'BTC' });
  const send = (...payees: { address: string; units: bigint }[]) => bitcoin.wallet.pay(bitcoin.node.call, payees);
  const mine = (count = 1) => mineBitcoin(bitcoin.node.call, count, bitcoin.wallet.address);
  const dueOf = ({ address, amount_units }: Deposit) => ({ address, units: BigInt(amount_units) });

  test(
    'a payment is received from the mempool, and applied once a block contains it',
    async () => {
      const { order: created, deposit } = await order();
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
      const { order: created, deposit } = await order();
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
      const [one, other] = [await order(), await order()];
      const [due, otherDue] = [dueOf(one.deposit), dueOf(other.deposit)];
      const { txid: tx_hash } = await send({ ...due, units: due.units - 5n }, otherDue, { ...due, units: 5n });
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
      const { order: created, deposit } = await order();
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
    'a payment whose block leaves the chain is the same payment in its new block',
    async () => {
      const { order: created, deposit } = await order();
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
