import { BITCOIN_NODE_NAMES, BITCOIN_NODES, type BitcoinNodeName } from '@cpg/local-chain';
import { dueOf, startBitcoinStack, type BitcoinStack } from '../chains/bitcoin-stack.ts';
import { until } from '../harness/until.ts';
import type { Report } from './report.ts';

/** The Bitcoin node that this machine has; null if it has none. */
export const foundBitcoinNode = (): BitcoinNodeName | null =>
  BITCOIN_NODE_NAMES.find((name) => BITCOIN_NODES[name].find() !== null) ?? null;

/** How to get a Bitcoin node. */
export const bitcoinNodeAdvice = (): string =>
  [
    'no Bitcoin node was found: neither btcd nor bitcoind is on the PATH',
    ...BITCOIN_NODE_NAMES.map((name) => `  node scripts/${BITCOIN_NODES[name].install}`),
  ].join('\n');

/** Pays an order in BTC on a node and a stack of its own, and reorganizes the chain. */
export const payOnBitcoin = async (name: BitcoinNodeName, report: Report): Promise<void> => {
  report.section(`An order paid in BTC on ${name} (regtest), and a reorganization`);
  report.line('a node and a stack of their own are started');
  const bitcoin = await startBitcoinStack(name);
  try {
    await payAndReorganize(bitcoin, report);
  } finally {
    await bitcoin.stop();
  }
};

const payAndReorganize = async ({ desk, node, wallet, order, mine }: BitcoinStack, report: Report): Promise<void> => {
  const {
    order: { id, total_amount },
    deposit,
  } = await order();
  report.line(`${id}  ${total_amount} BTC to ${deposit.address}`);
  const { txid } = await wallet.pay(node.call, [dueOf(deposit)]);
  const seen = await desk.sees(id, { status: 'awaiting_payment', payments: [{ status: 'received', tx_hash: txid }] });
  report.equal('the mempool shows the payment, which counts for nothing yet', seen.remaining_amount, total_amount);

  const [first] = await mine(deposit.required_confirmations);
  const paid = await desk.sees(id, { status: 'paid', payments: [{ status: 'applied', tx_hash: txid }] });
  report.line(`${deposit.required_confirmations} mined, the first with the payment: ${first}`);
  report.equal('the block of the payment is the mined one', paid.payments[0]!.block?.hash, first);

  await node.call('invalidateblock', first);
  const [again] = await mine(deposit.required_confirmations + 1);
  report.line(`the block left the chain, and another one has the transaction: ${again}`);
  await until('the payment in its new block', async () => {
    const [payment] = (await desk.shop.api.order(id)).payments;
    return payment!.block?.hash === again;
  });
  const payment = { status: 'applied', tx_hash: txid, id: paid.payments[0]!.id } as const;
  const { order: kept, events } = await desk.hears(id, { status: 'paid', payments: [payment] });
  report.equal('it is the same payment, and the order stays paid', kept.payments.length, 1);
  report.isTrue('Kafka and the webhook have the same events', events.includes('order:paid'));
};
