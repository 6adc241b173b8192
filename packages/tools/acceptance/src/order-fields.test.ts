import { exampleOf, type HistoryData, MerchantCreateOrderDto, type Order, OrderDetails } from '@cpg/contracts';
import { type KafkaLog, readKafkaLog } from './harness/kafka-log.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { type Receiver, startReceiver, verifyDelivery } from './harness/receiver.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let kafka: KafkaLog;
let receiver: Receiver;

/** A request with every field. The example of a new field joins by itself. */
const BODY = { ...exampleOf(MerchantCreateOrderDto), underpayment_tolerance_percent: 0.5 };

/** With what an order computes from them. */
const SHOWN = { ...BODY, item_totals: { MXN: '935.00' } };

/** The fields of the request as an order shows them: those that it does not show under their own name, too. */
const shownBy = (order: Order) => ({
  ...order,
  enable_rails: [...new Set(order.deposit_instructions.map(({ rail }) => rail))],
  payment_currency: order.currency,
  expiration_minutes: (Date.parse(order.expiration_date!) - Date.parse(order.created_at!)) / 60_000,
});

const shownByHistory = ({ currency, ...data }: HistoryData<'OrderCreated'>) => ({
  ...data,
  payment_currency: currency,
});

beforeAll(async () => {
  [shop, kafka, receiver] = await Promise.all([openShop(stack), readKafkaLog(stack.kafkaBrokers), startReceiver()]);
});
afterAll(() => Promise.all([shop.api.close(), kafka.close(), receiver.close()]));

test('the request has every field', () =>
  expect(Object.keys(BODY).sort()).toEqual(Object.keys(MerchantCreateOrderDto.shape).sort()));

test('every field of a new order is in its resource, list, history, webhook and message', async () => {
  const { id: webhook, secret } = await shop.api.createWebhook({
    url: receiver.urlOf('/fields'),
    events: ['order:created'],
  });
  await shop.api.updateWebhook(webhook, { is_enabled: true });
  const created = await shop.api.createOrder(BODY);
  expect(shownBy(created)).toMatchObject(SHOWN);
  expect(shownBy(await shop.api.order(created.id))).toMatchObject(SHOWN);
  const { items: orders } = await shop.api.orders({ limit: 1 });
  expect(shownBy(orders[0]!)).toMatchObject(SHOWN);
  const { items: entries } = await shop.api.history(created.id);
  expect(shownByHistory(entries[0]!.data as HistoryData<'OrderCreated'>)).toMatchObject(BODY);
  const [attempt] = await receiver.attempts('/fields', 1);
  expect(shownBy(verifyDelivery(attempt!, secret).data as Order)).toMatchObject(SHOWN);
  const [message] = await kafka.waitFor(created.id, () => true);
  expect(shownBy(message!.data.resource as Order)).toMatchObject(SHOWN);
  const { items, enable_rails, payment_currency, capabilities, ...more } = BODY;
  const { expiration_minutes, underpayment_tolerance_percent: _, ...details } = more;
  expect(message!.data.change).toMatchObject({
    ...OrderDetails.toRecorded(details),
    items,
    rails: enable_rails,
    currency: payment_currency,
    capabilities,
    expirationMinutes: expiration_minutes,
    toleranceBps: 50,
  });
});
