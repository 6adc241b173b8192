import { paymentView } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { type BothServices, createCall, startBothServices } from '../testing/jest-both-services.ts';

let both: BothServices;
beforeAll(() => void (both = startBothServices()));
afterAll(() => both.stop());

const create = async () => {
  const [orderId, merchantId] = [newId('order'), newId('merchant')];
  await both.orders('POST', '/orders', createCall({ orderId, merchantId }));
  return { orderId, merchantId };
};

const BRIDGED = { asset: 'eip155:137/erc20:0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', asset_label: 'USDC.e' };

const send = (orderId: string, more: object) =>
  both.payments('POST', '/payments', {
    order_id: orderId,
    rail: 'crypto_deposit',
    provider_id: `${orderId}:0`,
    amount: '10',
    currency: 'USDC',
    confirmed: true,
    ...BRIDGED,
    ...more,
  });

/** Delivers the messages that are in flight, and those that follow from them. */
const deliverAll = async () => {
  while (both.inFlight.length > 0) await both.deliver(both.inFlight[0]!, { again: false });
};

test('a token that does not count is an orphan with its name, that no capture applies and that can be refunded', async () => {
  const { orderId, merchantId } = await create();
  await send(orderId, { credited: false });
  await deliverAll();
  const orphan = { ...BRIDGED, currency: 'USDC', status: 'orphan', orphan_reason: 'wrong_currency', credited: false };
  expect(both.orderOf(orderId).order.status).toBe('awaiting_payment');
  expect(both.orderOf(orderId).order.payments.map(paymentView)).toMatchObject([orphan]);
  expect(both.paymentsOf(orderId).map(paymentView)).toMatchObject([orphan]);

  await both.orders('POST', `/orders/${orderId}/capture`, { merchant_id: merchantId });
  await deliverAll();
  expect(both.orderOf(orderId).order.status).toBe('awaiting_payment');
  const { paymentId } = both.paymentsOf(orderId)[0]!;
  const refund = { merchant_id: merchantId, refund_id: newId('refund') };
  expect(await both.payments('POST', `/payments/${paymentId}/refunds`, refund)).toMatchObject({ status: 200 });
  await deliverAll();
  expect(both.paymentsOf(orderId)).toMatchObject([{ status: 'refunded', assetLabel: 'USDC.e' }]);
});

test('a token that counts pays the order, and its payment names it', async () => {
  const { orderId } = await create();
  await send(orderId, {});
  await deliverAll();
  const { order } = both.orderOf(orderId);
  expect(order.status).toBe('paid');
  expect(order.payments.map(paymentView)).toMatchObject([{ ...BRIDGED, status: 'applied' }]);
});

test('the first report decides whether a token counts: a repeat with another setting changes nothing', async () => {
  const { orderId } = await create();
  await send(orderId, { credited: false });
  await send(orderId, {});
  await deliverAll();
  expect(both.paymentsOf(orderId)).toMatchObject([{ status: 'orphan', orphanReason: 'wrong_currency' }]);
});
