import { createLogger, newId } from '@cpg/platform';
import { createCall, startBothServices } from './testing/jest-both-services.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly orderId: string;
  readonly paymentId?: string;
}

const lines: Line[] = [];
const log = createLogger({
  name: 'both',
  level: 'info',
  destination: { write: (line) => void lines.push(JSON.parse(line) as Line) },
});
const both = startBothServices({ log });
afterAll(() => both.stop());

/** Delivers every message in flight twice, and those that follow from them. */
const deliverAllTwice = async () => {
  while (both.inFlight.length > 0) for (const again of [true, false]) await both.deliver(both.inFlight[0]!, { again });
};

test('a paid order writes one info line for each business fact, also when calls and messages repeat', async () => {
  const [orderId, merchantId] = [newId('order'), newId('merchant')];
  const sighting = {
    order_id: orderId,
    rail: 'crypto_deposit',
    provider_id: `${orderId}:0`,
    amount: '10',
    currency: 'USDC',
  };
  await both.orders('POST', '/orders', createCall({ orderId, merchantId }));
  for (const confirmed of [false, false, true, true])
    await both.payments('POST', '/payments', { ...sighting, confirmed });
  await deliverAllTwice();
  const facts = () => lines.splice(0).map(({ level, msg, orderId: of }) => [level, msg, of]);
  expect(facts()).toEqual(
    ['order created', 'payment received', 'order paid', 'payment applied'].map((msg) => ['info', msg, orderId]),
  );

  const { paymentId } = both.paymentsOf(orderId)[0]!;
  const refund = { merchant_id: merchantId, refund_id: newId('refund'), what: 'all' };
  for (const _ of [1, 2]) await both.payments('POST', `/payments/${paymentId}/refunds`, refund);
  await both.orders('DELETE', `/orders/${orderId}`, { merchant_id: merchantId });
  await both.orders('DELETE', `/orders/${orderId}`, { merchant_id: merchantId });
  await deliverAllTwice();
  expect(facts()).toEqual(['payment refunded', 'order deleted'].map((msg) => ['info', msg, orderId]));
});
