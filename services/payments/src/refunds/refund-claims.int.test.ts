import { newId } from '@cpg/platform';
import { appliedOnceConfirmed, MERCHANT, until } from '../testing/jest-fixtures.ts';
import { type PaymentsService, startPayments } from '../testing/jest-payments.ts';
import { NETWORK, sepolia, usdc, watchedNetwork } from '../testing/jest-watched-network.ts';

const WALLET = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
// EIP-55: an example.
const PAYER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const OTHER = '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB';
const DAYS_30_MS = 30 * 86_400_000;

let payments: PaymentsService;
let payables: ReturnType<PaymentsService['startPayables']>;
let watched: ReturnType<typeof watchedNetwork>;

beforeAll(async () => {
  payments = await startPayments();
  payables = payments.startPayables();
  watched = watchedNetwork(payments);
  await watched.reserve();
  const declared = await payments.call('POST', `/merchants/${MERCHANT}/deposit-settings`, {
    change: 'add_refund_address',
    network: NETWORK,
    address: WALLET,
  });
  expect(declared).toMatchObject({ status: 200 });
  await readTo(100);
});
afterAll(async () => {
  await watched.stop();
  await payables.stop();
  await payments.stop();
});

/** The chain was read up to a block; null for none. */
const readTo = (height: number | null) =>
  payments.pool.query(
    `insert into payments.chain_cursors (network, height) values ($1, $2)
     on conflict (network) do update set height = excluded.height`,
    [NETWORK, height],
  );

/** A pending refund of 10 USDC without an address. */
const pendingRefund = async () => {
  const { payment } = await payments.register({
    order_id: payments.addOrder(appliedOnceConfirmed),
    rail: 'crypto_deposit',
    provider_id: newId('event'),
    amount: '10',
    currency: 'USDC',
    asset: usdc.id,
    confirmed: true,
  });
  const refundId = newId('refund');
  const body = { merchant_id: MERCHANT, refund_id: refundId, settle: 'on_chain', what: 'all' };
  const requested = await payments.call('POST', `/payments/${payment.id}/refunds`, body);
  expect(requested).toMatchObject({ status: 200 });
  return { refundId, paymentId: payment.id };
};

let links = 0;
const issue = async (refundId: string, more: object = {}) => {
  const hash = String((links += 1)).padStart(64, 'a');
  const body = { merchant_id: MERCHANT, token_hash: hash, show_on_page: false, ...more };
  return { hash, ...(await payments.call('POST', `/refunds/${refundId}/claim`, body)) };
};
const withLink = async (more: object = {}) => {
  const refund = await pendingRefund();
  const { hash, status } = await issue(refund.refundId, more);
  expect(status).toBe(200);
  return { ...refund, hash };
};
const show = (hash: string) => payments.call('GET', `/claims/${hash}`);
const check = (hash: string, address: string) => payments.call('POST', `/claims/${hash}/check`, { address });
const confirm = (hash: string, address: string) => payments.call('POST', `/claims/${hash}/confirm`, { address });
const cancel = (refundId: string) => payments.call('POST', `/refunds/${refundId}/cancel`, { merchant_id: MERCHANT });

test('the payer confirms an address once, and the merchant gets what to send', async () => {
  const { refundId, paymentId, hash } = await withLink();
  expect(await show(hash)).toMatchObject({
    status: 200,
    body: {
      refund: { id: refundId, status: 'pending', amount: '10.000000' },
      explorer: 'https://sepolia.etherscan.io',
      on_page: false,
      is_expired: false,
    },
  });
  expect(await check(hash, PAYER)).toMatchObject({ body: { destination: PAYER, has_checksum: true } });
  expect((await show(hash)).body).not.toHaveProperty('refund.destination');

  for (const _ of [1, 2])
    expect(await confirm(hash, PAYER)).toMatchObject({ status: 200, body: { destination: PAYER } });
  expect(await confirm(hash, OTHER)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
  const { body } = await show(hash);
  expect(body).toMatchObject({ refund: { destination: PAYER, status: 'pending' } });
  expect(body).not.toHaveProperty('refund.claim_expires_at');
  const request = await payments.call('POST', `/refunds/${refundId}/request`, { merchant_id: MERCHANT });
  expect(request).toMatchObject({ status: 200, body: { refund: { destination: PAYER }, senders: [WALLET] } });
  const types = (await payments.typesOf(paymentId))!;
  expect(types.slice(-2)).toEqual(['PaymentRefundClaimIssued', 'PaymentRefundClaimed']);
});

test('two confirmations at once record one address', async () => {
  const { hash, paymentId } = await withLink();
  const answers = await Promise.all([confirm(hash, PAYER), confirm(hash, OTHER)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const won = answers.find(({ status }) => status === 200)!.body as { destination: string };
  expect((await show(hash)).body).toMatchObject({ refund: { destination: won.destination } });
  expect((await payments.typesOf(paymentId))!.filter((type) => type === 'PaymentRefundClaimed')).toHaveLength(1);
});

test('a later link replaces the earlier one, and a repeat of a call replaces nothing', async () => {
  const { refundId, hash } = await withLink();
  const first = await show(hash);
  expect(await issue(refundId, { token_hash: hash })).toMatchObject({ status: 200 });
  expect(await show(hash)).toEqual(first);
  const later = await issue(refundId, { show_on_page: true });
  for (const answer of [await show(hash), await check(hash, PAYER), await confirm(hash, PAYER)])
    expect(answer).toMatchObject({ status: 404 });
  expect(await show(later.hash)).toMatchObject({ status: 200, body: { on_page: true } });
});

test('a canceled refund takes no address', async () => {
  const { refundId, hash } = await withLink();
  await cancel(refundId);
  expect(await confirm(hash, PAYER)).toMatchObject({ status: 409 });
  expect(await show(hash)).toMatchObject({ body: { refund: { status: 'canceled' } } });
  expect(await issue(refundId)).toMatchObject({ status: 409, body: { code: 'payment_conflict' } });
});

test('a link ends after 30 days', async () => {
  const { hash, refundId } = await withLink();
  payments.advanceClaims(DAYS_30_MS - 60_000);
  expect(await show(hash)).toMatchObject({ body: { is_expired: false } });
  payments.advanceClaims(60_000);
  expect(await show(hash)).toMatchObject({ body: { is_expired: true } });
  expect(await confirm(hash, PAYER)).toMatchObject({ status: 409 });
  payments.advanceClaims(-DAYS_30_MS);
  expect(await confirm(hash, PAYER)).toMatchObject({ status: 200 });
  payments.advanceClaims(2 * DAYS_30_MS);
  expect(await show(hash)).toMatchObject({ body: { is_expired: false, refund: { id: refundId } } });
  payments.advanceClaims(-2 * DAYS_30_MS);
});

test('refuses addresses that cannot be of the payer, with the code of the fault', async () => {
  const { hash } = await withLink();
  await watched.orderAt(5);
  const deposit = sepolia.addressAt(5);
  await until(async () => await payments.findPayable({ address: deposit }));
  const faults = {
    '': 'form',
    'payer.eth': 'form',
    tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx: 'other_network',
    [PAYER.replace('aAe', 'aae')]: 'checksum',
    [`0x${'0'.repeat(40)}`]: 'zero',
    [usdc.contract!]: 'token',
    [WALLET]: 'not_of_payer',
    [deposit]: 'not_of_payer',
  };
  for (const [address, fault] of Object.entries(faults)) {
    expect(await check(hash, address)).toMatchObject({ status: 200, body: { fault } });
    expect(await confirm(hash, address)).toMatchObject({ status: 200, body: { fault } });
  }
  expect(await check(hash, PAYER.toLowerCase())).toMatchObject({ body: { destination: PAYER, has_checksum: false } });
});

test('nothing is recorded while the transfer could not be found, and the same link works later', async () => {
  const { hash } = await withLink();
  await readTo(null);
  expect(await confirm(hash, PAYER)).toMatchObject({ status: 503 });
  await readTo(100);
  expect(await confirm(hash, PAYER)).toMatchObject({ status: 200 });
});

test('shows a link to its merchant alone, and none for an unknown hash', async () => {
  const { refundId } = await pendingRefund();
  expect(await issue(refundId, { merchant_id: newId('merchant') })).toMatchObject({ status: 404 });
  expect(await issue(newId('refund'))).toMatchObject({ status: 404 });
  expect(await show('0'.repeat(64))).toMatchObject({ status: 404 });
});
