import { newId } from '@cpg/platform';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { type Receiver, startReceiver } from '../testing/jest-receiver.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

test('makes the first attempts of an order one after another, in the order of the events', async () => {
  const { consume } = await system.start();
  const { merchantId } = await system.webhook(receiver.url);
  let open = 0;
  let most = 0;
  receiver.answer = (_request, response) => {
    most = Math.max(most, (open += 1));
    setTimeout(() => {
      open -= 1;
      response.end();
    }, 5);
  };
  const orderId = newId('order');
  const events = Array.from({ length: 8 }, (_, n) =>
    message({ type: n % 2 ? 'payment.applied' : 'order.updated', merchantId, orderId, sequence: String(n) }),
  );
  await consume(events.slice(0, 5));
  await consume(events.slice(5));
  const received = await receiver.arrived(8);
  expect(received.map(({ headers }) => headers['x-idempotency-key'])).toEqual(events.map(({ id }) => id));
  expect(most).toBe(1);
});

test('a failing event does not delay later ones', async () => {
  const { consume } = await system.start({ schedule: [3_600] });
  const { merchantId } = await system.webhook(receiver.url);
  const orderId = newId('order');
  const [first, second] = [
    message({ type: 'order.created', merchantId, orderId }),
    message({ type: 'order.paid', merchantId, orderId }),
  ];
  receiver.answer = ({ headers }, response) =>
    void response.writeHead(headers['x-idempotency-key'] === first.id ? 500 : 200).end();
  await consume([first, second]);
  const received = await receiver.arrived(2);
  expect(received[1]!.headers['x-idempotency-key']).toBe(second.id);
});

test('keeps the order of events that different instances ingest', async () => {
  const [one, other] = [await system.start(), await system.start()];
  const { merchantId } = await system.webhook(receiver.url);
  const orderId = newId('order');
  const answering: (() => void)[] = [];
  receiver.answer = ({ path }, response) => (path === '/' ? void answering.push(() => response.end()) : response.end());
  const later = await system.webhook(`${receiver.url}/later`);
  const events = ['order.updated', 'payment.applied', 'order.paid'].map((type) =>
    message({ type: type as 'order.paid', merchantId, orderId }),
  );
  await one.consume([events[0]!]);
  await other.consume([events[1]!]);
  await one.consume([events[2]!]);
  const ofOrder = () => receiver.received.filter(({ path }) => path === '/');
  for (const count of [1, 2, 3]) {
    await receiver.arrived(3 * count - 2);
    // A later delivery of each instance: an attempt at the next event would have come before.
    for (const [n, instance] of [one, other].entries()) {
      await instance.consume([message({ type: 'order.created', merchantId: later.merchantId })]);
      await receiver.arrived(3 * count - 1 + n);
    }
    expect(ofOrder()).toHaveLength(count);
    answering.shift()!();
  }
  expect(ofOrder().map(({ headers }) => headers['x-idempotency-key'])).toEqual(events.map(({ id }) => id));
});
