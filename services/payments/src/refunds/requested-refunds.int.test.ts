import { newId } from '@cpg/platform';
import type { Transfer } from '../chains/chain-source.ts';
import { applied, appliedOnceConfirmed, DECIDED_AT, MERCHANT, until } from '../testing/jest-fixtures.ts';
import type { Decide } from '../testing/jest-orders-stub-views.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { type SimulatedChain, simulatedChain } from '../testing/jest-simulated-chain.ts';
import { NETWORK, sepolia, usdc, watchedNetwork } from '../testing/jest-watched-network.ts';

const WALLET = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const STRANGER = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';

let payments: PaymentsService;
let payables: ReturnType<PaymentsService['startPayables']>;
let watched: ReturnType<typeof watchedNetwork>;
let chain: SimulatedChain;

beforeAll(async () => {
  payments = await startPayments();
  payables = payments.startPayables();
  watched = watchedNetwork(payments);
  await watched.reserve();
  chain = simulatedChain();
  chain.mineMany(20);
  watched.startProcess(chain.source);
  await declare(WALLET);
  await until(async () => (await payments.pool.query('select from payments.chain_cursors where tip > 0')).rowCount);
});
afterAll(async () => {
  await watched.stop();
  await payables.stop();
  await payments.stop();
});

const declare = (address: string, change = 'add_refund_address', merchantId = MERCHANT) =>
  payments.call('POST', `/merchants/${merchantId}/deposit-settings`, { change, network: NETWORK, address });

/** A new address of a payer. */
let payers = 0;
const payer = (): string => `0x${String((payers += 1)).padStart(40, '1')}`;

/** A confirmed payment of 10 USDC. */
const paid = async (decide: Decide = appliedOnceConfirmed): Promise<string> => {
  const { payment } = await payments.register({
    order_id: payments.addOrder(decide),
    rail: 'crypto_deposit',
    provider_id: newId('event'),
    amount: '10',
    currency: 'USDC',
    asset: usdc.id,
    confirmed: true,
  });
  return payment.id;
};

/** Requests a refund of all that is left, unless the body says otherwise. */
const request = async (paymentId: string, body: object = {}) => {
  const refundId = newId('refund');
  const part = 'amount' in body || 'what' in body ? {} : { what: 'all' };
  const call = { merchant_id: MERCHANT, refund_id: refundId, settle: 'on_chain', ...part, ...body };
  return { refundId, ...(await payments.call('POST', `/payments/${paymentId}/refunds`, call)) };
};

const paymentRequest = (refundId: string, body: object = {}) =>
  payments.call('POST', `/refunds/${refundId}/request`, { merchant_id: MERCHANT, ...body });

const refundOf = async (id: string) =>
  (await payments.pool.query('select resource from payments.refunds where id = $1', [id])).rows[0]?.resource as Record<
    string,
    unknown
  >;

const untilStatus = (id: string, status: string) => until(async () => (await refundOf(id)).status === status);

let sent = 0;
/** A transfer of 10 USDC from the wallet of the merchant. */
const transfer = (address: string, changes: Partial<Transfer> = {}): Transfer => {
  const txHash = `0xre${(sent += 1)}`;
  return { id: `${txHash}:0`, txHash, address, sender: WALLET, asset: usdc.id, units: 10_000_000n, ...changes };
};

/** Waits until the chain is read, and every transfer to an address is reported. */
const untilReported = (address: string) =>
  until(async () => {
    const { rows } = await payments.pool.query<{ done: boolean }>(
      `select bool_and(reported is not null) as done from payments.chain_transfers where address = $1`,
      [address],
    );
    return rows[0]?.done;
  });

test('a refund is pending, sent when a block contains its transfer, and settled when that is final', async () => {
  const [paymentId, destination] = [await paid(), payer()];
  const { refundId, status } = await request(paymentId);
  expect(status).toBe(200);
  expect(await refundOf(refundId)).toMatchObject({ status: 'pending', amount: '10.000000', network: NETWORK });
  expect(await payments.rowOf(paymentId)).toMatchObject({ resource: { reserved_amount: '10.000000' } });
  expect(await paymentRequest(refundId)).toMatchObject({ status: 400 });
  const { body: shown } = await paymentRequest(refundId, { destination });
  expect(shown).toEqual({
    refund: await refundOf(refundId),
    payment_uri: `ethereum:${usdc.contract}@11155111/transfer?address=${destination}&uint256=10000000`,
    amount_units: '10000000',
    decimals: 6,
    senders: [WALLET],
    transaction: {
      chainId: '0xaa36a7',
      to: usdc.contract,
      value: '0x0',
      data: `0xa9059cbb${destination.slice(2).padStart(64, '0')}${(10_000_000).toString(16).padStart(64, '0')}`,
    },
  });
  expect((await paymentRequest(refundId, { destination })).body).toEqual(shown);

  const money = transfer(destination);
  chain.mine(money);
  await untilStatus(refundId, 'sent');
  expect(await refundOf(refundId)).toMatchObject({ destination, tx_hash: money.txHash });
  expect(await paymentRequest(refundId)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
  expect(await payments.rowOf(paymentId)).toMatchObject({
    status: 'applied',
    resource: { reserved_amount: '10.000000' },
  });
  chain.mineMany(usdc.requiredConfirmations);
  await untilStatus(refundId, 'settled');
  const { resource, ...row } = (await payments.rowOf(paymentId)) as { resource: object };
  expect(row).toMatchObject({ status: 'refunded' });
  expect(resource).toMatchObject({ refunded_amount: '10.000000' });
  expect(resource).not.toHaveProperty('reserved_amount');
  const types = await payments.typesOf(paymentId);
  expect(types!.slice(-4)).toEqual([
    'PaymentRefundRequested',
    'PaymentRefundAddressed',
    'PaymentRefundSent',
    'PaymentRefunded',
  ]);
});

test('a refund is pending again while its transfer is in no block, and another transaction can pay it', async () => {
  const destination = payer();
  const { refundId } = await request(await paid(), { destination });
  const money = transfer(destination);
  chain.mine(money);
  await untilStatus(refundId, 'sent');
  chain.drop(1);
  chain.mineMany(2);
  await untilStatus(refundId, 'pending');
  expect(await refundOf(refundId)).not.toHaveProperty('tx_hash');
  const again = transfer(destination);
  chain.mine(again);
  chain.mineMany(usdc.requiredConfirmations);
  await untilStatus(refundId, 'settled');
  expect(await refundOf(refundId)).toMatchObject({ tx_hash: again.txHash });
});

test('only the exact amount of its asset from a declared address pays a refund, and it pays one', async () => {
  const destination = payer();
  const [first, second] = [await request(await paid(), { destination }), await request(await paid(), { destination })];
  chain.mine(
    transfer(destination, { units: 9_999_999n }),
    transfer(destination, { units: 20_000_000n }),
    transfer(destination, { sender: STRANGER }),
    transfer(destination, { asset: sepolia.assets.find(({ currency }) => currency === 'ETH')!.id }),
  );
  await untilReported(destination);
  expect([await refundOf(first.refundId), await refundOf(second.refundId)]).toMatchObject([
    { status: 'pending' },
    { status: 'pending' },
  ]);
  chain.mine(transfer(destination));
  chain.mineMany(usdc.requiredConfirmations);
  await untilStatus(first.refundId, 'settled');
  await untilReported(destination);
  expect(await refundOf(second.refundId)).toMatchObject({ status: 'pending' });
  chain.mine(transfer(destination));
  await untilStatus(second.refundId, 'sent');
});

test('an earlier transfer to the same address does not pay a later refund', async () => {
  const destination = payer();
  const [first, paymentId] = [await request(await paid(), { destination }), await paid()];
  const { refundId } = first;
  await payments.call('POST', `/refunds/${refundId}/cancel`, { merchant_id: MERCHANT });
  chain.mine(transfer(destination));
  chain.mineMany(20);
  await untilReported(destination);
  const later = await request(paymentId, { destination });
  chain.mineMany(2);
  await untilReported(destination);
  expect([await refundOf(refundId), await refundOf(later.refundId)]).toMatchObject([
    { status: 'canceled' },
    { status: 'pending' },
  ]);
});

test('a pending refund reserves its amount until it is canceled', async () => {
  const paymentId = await paid();
  const { refundId, body } = await request(paymentId, { amount: '7' });
  expect(body).toMatchObject({ payment: { reserved_amount: '7.000000' } });
  expect(await request(paymentId, { amount: '3.000001' })).toMatchObject({ body: { code: 'refund_too_large' } });
  expect(await request(paymentId, { settle: 'recorded', amount: '4' })).toMatchObject({
    body: { code: 'refund_too_large' },
  });
  const cancel = { merchant_id: MERCHANT };
  for (const _ of [1, 2])
    expect(await payments.call('POST', `/refunds/${refundId}/cancel`, cancel)).toMatchObject({
      status: 200,
      body: { id: refundId, status: 'canceled' },
    });
  expect(await request(paymentId, { settle: 'recorded' })).toMatchObject({ status: 200 });
});

const orphaned: Decide = ({ paymentId }) => ({
  status: 'orphan',
  payment_id: paymentId,
  orphan_reason: 'already_paid',
  at: DECIDED_AT,
});

test('the surplus is what the order decides now', async () => {
  const paymentId = await paid(orphaned);
  const { refundId } = await request(paymentId, { what: 'surplus' });
  expect(await refundOf(refundId)).toMatchObject({ status: 'pending', amount: '10.000000' });
  const needed = await paid(orphaned);
  payments.stub.decideAgain(needed, applied);
  expect(await request(needed, { what: 'surplus' })).toMatchObject({ body: { code: 'nothing_to_refund' } });
  expect(await request(needed, { what: undefined })).toMatchObject({ body: { code: 'refund_amount_required' } });
});

test('an order whose refund is not settled keeps its payments', async () => {
  const paymentId = await paid();
  const { order_id: orderId } = (await payments.rowOf(paymentId)) as { order_id: string };
  const unsettled = async () =>
    (await payments.call('POST', `/orders/${orderId}/unsettled-payment`, { held_by_order: [] })).body;
  expect(await unsettled()).toEqual({ payment_id: null });
  const { refundId } = await request(paymentId);
  expect(await unsettled()).toEqual({ payment_id: paymentId, refund_id: refundId });
});

test('an order learns which of its payments a requested refund pays back, until that is canceled', async () => {
  const paymentId = await paid();
  const openRefund = async () => {
    const { body } = await payments.call('POST', '/refundable', { payment_ids: [paymentId] });
    return (body as { payments: { open_refund?: string }[] }).payments[0]!.open_refund;
  };
  expect(await openRefund()).toBeUndefined();
  const { refundId } = await request(paymentId);
  expect(await openRefund()).toBe(refundId);
  await payments.call('POST', `/refunds/${refundId}/cancel`, { merchant_id: MERCHANT });
  expect(await openRefund()).toBeUndefined();
});

test('refuses what cannot be proven, with the reason', async () => {
  const paymentId = await paid();
  const details = async (body: object) => {
    const { body: answer } = await request(paymentId, body);
    return (answer as { details: unknown[] }).details[0];
  };
  expect(await details({ network: 'polygon' })).toMatchObject({ path: 'network' });
  expect(await details({ network: 'bnb-testnet' })).toMatchObject({ path: expect.stringMatching(/network|settle/) });
  expect(await details({ destination: `${WALLET.slice(0, -1)}8` })).toMatchObject({ path: 'destination' });
  expect(await details({ destination: WALLET })).toMatchObject({
    message: expect.stringMatching(/own refund address/),
  });
  await watched.orderAt(3);
  const deposit = sepolia.addressAt(3);
  await until(async () => await payments.findPayable({ address: deposit }));
  const other = await paid();
  const refusedDeposit = {
    body: { details: [{ path: 'destination', message: expect.stringMatching(/deposit address/) }] },
  };
  expect(await request(other, { destination: deposit })).toMatchObject(refusedDeposit);
  // The refused request reserved nothing: all of the payment can still be requested.
  const { refundId, status } = await request(other);
  expect(status).toBe(200);
  expect(await paymentRequest(refundId, { destination: deposit })).toMatchObject(refusedDeposit);
  await declare(WALLET, 'remove_refund_address');
  expect(await request(paymentId)).toMatchObject({
    status: 409,
    body: { message: expect.stringMatching(/no refund address on ethereum-sepolia/) },
  });
  await declare(WALLET);
});

test('a payment that no chain shows needs the network', async () => {
  const { payment } = await payments.register({
    order_id: payments.addOrder(appliedOnceConfirmed),
    rail: 'gateway_pay',
    provider_id: newId('event'),
    amount: '10',
    currency: 'USDC',
    confirmed: true,
  });
  expect((await request(payment.id)).body).toMatchObject({
    details: [{ path: 'network', message: expect.stringMatching(/^is needed.* send one of .*ethereum-sepolia/) }],
  });
});

test('shows a refund to its merchant alone', async () => {
  const { refundId } = await request(await paid());
  const stranger = { merchant_id: newId('merchant') };
  expect(await payments.call('POST', `/refunds/${refundId}/request`, stranger)).toMatchObject({ status: 404 });
  expect(await payments.call('POST', `/refunds/${refundId}/cancel`, stranger)).toMatchObject({ status: 404 });
});
