import { newId } from '@cpg/platform';
import type { Transfer } from '../chains/chain-source.ts';
import { appliedOnceConfirmed, MERCHANT, until } from '../testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { type SimulatedChain, simulatedChain } from '../testing/jest-simulated-chain.ts';
import { bitcoinTestnet, watchedNetwork } from '../testing/jest-watched-network.ts';

const [btc] = bitcoinTestnet.assets;
const NETWORK = bitcoinTestnet.name;
const WALLET = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const STRANGER = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';
const PAYERS = [
  'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
  'tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c',
  '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
];

let payments: PaymentsService;
let payables: ReturnType<PaymentsService['startPayables']>;
let watched: ReturnType<typeof watchedNetwork>;
let chain: SimulatedChain;

beforeAll(async () => {
  payments = await startPayments();
  payables = payments.startPayables();
  watched = watchedNetwork(payments, bitcoinTestnet);
  await watched.reserve();
  chain = simulatedChain();
  chain.mineMany(20);
  const spendsFrom = async ({ spends }: { spends: readonly string[] }, addresses: readonly string[]) =>
    spends.some((output) => addresses.includes(output.split(':')[0]!));
  watched.startProcess({ ...chain.source, spendsFrom });
  await payments.call('POST', `/merchants/${MERCHANT}/deposit-settings`, {
    change: 'add_refund_address',
    network: NETWORK,
    address: WALLET,
  });
  await until(async () => (await payments.pool.query('select from payments.chain_cursors where tip > 0')).rowCount);
});
afterAll(async () => {
  await watched.stop();
  await payables.stop();
  await payments.stop();
});

/** A refund of a confirmed payment of 0.0005 BTC. */
const refundTo = async (destination: string, part: object = { what: 'all' }): Promise<string> => {
  const { payment } = await payments.register({
    order_id: payments.addOrder(appliedOnceConfirmed),
    rail: 'crypto_deposit',
    provider_id: newId('event'),
    amount: '0.0005',
    currency: 'BTC',
    asset: btc!.id,
    confirmed: true,
  });
  const refundId = newId('refund');
  const call = { merchant_id: MERCHANT, refund_id: refundId, settle: 'on_chain', destination, ...part };
  expect(await payments.call('POST', `/payments/${payment.id}/refunds`, call)).toMatchObject({ status: 200 });
  return refundId;
};

const requestOf = (refundId: string) =>
  payments.call('POST', `/refunds/${refundId}/request`, { merchant_id: MERCHANT });

const statusesOf = async (...ids: readonly string[]) => {
  const { rows } = await payments.pool.query<{ status: string; transfer_id: string | null }>(
    'select status, transfer_id from payments.refunds where id = any($1) order by array_position($1, id)',
    [ids],
  );
  return rows;
};
const untilStatus = (status: string, ...ids: readonly string[]) =>
  until(async () => (await statusesOf(...ids)).every((each) => each.status === status));

let sent = 0;
/** A transaction that spends coins of some addresses and has an output of 0.0005 BTC for each receiver. */
const transaction = (
  receivers: readonly string[],
  { from = [STRANGER, WALLET], units = 50_000n }: { from?: readonly string[]; units?: bigint } = {},
): Transfer[] => {
  const txHash = String((sent += 1)).padStart(64, '0');
  const spends = from.map((address) => `${address}:${sent}`);
  return receivers.map((address, vout) => ({
    ...{ id: `${txHash}:${vout}`, txHash, address, asset: btc!.id, units, spends },
  }));
};

test('a wallet gets the address, the exact amount and the name of the refund as a URI', async () => {
  const id = await refundTo(PAYERS[0]!, { amount: '0.0001' });
  const { body } = await requestOf(id);
  expect(body).toEqual({
    refund: expect.objectContaining({ id, status: 'pending', amount: '0.00010000' }),
    payment_uri: `bitcoin:${PAYERS[0]}?amount=0.00010000&label=Refund%20${id}&message=Refund%20${id}`,
    amount_units: '10000',
    decimals: 8,
    senders: [WALLET],
  });
  chain.mine(...transaction([PAYERS[0]!], { units: 10_000n }));
  await untilStatus('sent', id);
  expect(await requestOf(id)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
});

test('each output of one transaction settles one refund, also of equal amounts to one address', async () => {
  const [first, second, other] = [await refundTo(PAYERS[1]!), await refundTo(PAYERS[1]!), await refundTo(PAYERS[2]!)];
  const batch = transaction([PAYERS[1]!, PAYERS[2]!, PAYERS[1]!]);
  chain.mine(...batch);
  chain.mineMany(btc!.requiredConfirmations);
  await untilStatus('settled', first, second, other);
  const taken = (await statusesOf(first, second, other)).map((each) => each.transfer_id);
  expect(new Set(taken)).toEqual(new Set(batch.map(({ id }) => id)));
  expect(taken[2]).toBe(batch[1]!.id);
});

test('a transaction without coins of a declared address, or with another amount, settles nothing', async () => {
  const id = await refundTo(PAYERS[0]!);
  const [stranger] = transaction([PAYERS[0]!], { from: [STRANGER] });
  const [more] = transaction([PAYERS[0]!], { units: 50_001n });
  chain.mine(stranger!, more!);
  chain.mineMany(2);
  await until(async () => {
    const { rows } = await payments.pool.query<{ reported: string | null }>(
      'select reported from payments.chain_transfers where id = any($1)',
      [[stranger!.id, more!.id]],
    );
    return rows.length === 2 && rows.every(({ reported }) => reported === 'ignored');
  });
  expect(await statusesOf(id)).toMatchObject([{ status: 'pending' }]);
  chain.mine(...transaction([PAYERS[0]!], { from: [WALLET] }));
  await untilStatus('sent', id);
});

test('a transaction that replaces another one pays the refund, before and after a reorganization', async () => {
  const id = await refundTo(PAYERS[2]!);
  const [original, replacement, last] = [1, 2, 3].map(() => transaction([PAYERS[2]!], { from: [WALLET] })[0]!);
  chain.setPool([original!]);
  await until(async () => {
    const seen = 'select from payments.chain_transfers where id = $1 and reported is not null';
    return (await payments.pool.query(seen, [original!.id])).rowCount;
  });
  expect(await statusesOf(id)).toMatchObject([{ status: 'pending' }]);
  chain.setPool([]);
  chain.mine(replacement!);
  await untilStatus('sent', id);
  chain.drop(1);
  chain.mine(last!);
  chain.mineMany(btc!.requiredConfirmations);
  await untilStatus('settled', id);
  expect(await statusesOf(id)).toMatchObject([{ transfer_id: last!.id }]);
});
