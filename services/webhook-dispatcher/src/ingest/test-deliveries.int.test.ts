import { WebhookPayload } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { Webhook } from 'standardwebhooks';
import { authorization, openApp } from '../testing/jest-app.ts';
import { ALL_EVENTS, type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
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

/** Starts a dispatcher and returns a function that requests a test delivery from it. */
const sender = async (options: { isSandbox?: boolean } = {}) => {
  const { app } = await openApp(system, options);
  return (webhook_id: string, event_type: string) =>
    app.inject({
      method: 'POST',
      url: '/test-deliveries',
      headers: { authorization },
      payload: { webhook_id, event_type },
    });
};

test.each(ALL_EVENTS)(
  'a test delivery of %s is marked as a test, and goes to a disabled webhook with a filter too',
  async (type) => {
    const send = await sender();
    const { id, secret, merchantId } = await system.webhook(receiver.url, {
      isEnabled: false,
      filter: { shop: 'b2c' },
    });
    const answer = await send(id, type);
    expect(answer.statusCode).toBe(201);
    const [request] = await receiver.arrived(1);
    expect(request!.headers['x-delivery-id']).toBe(answer.json().delivery_id);
    const payload = WebhookPayload.parse(new Webhook(secret).verify(request!.body, request!.headers));
    expect(payload).toMatchObject({
      event: type,
      object_type: type.split(':')[0],
      data: { merchant_id: merchantId, metadata: { test: true } },
    });
  },
);

test('a test delivery to an unknown webhook is 404, and production has no test deliveries', async () => {
  const send = await sender();
  expect((await send(newId('webhook'), 'order:paid')).statusCode).toBe(404);
  const sendInProduction = await sender({ isSandbox: false });
  const { id } = await system.webhook(receiver.url);
  expect((await sendInProduction(id, 'order:paid')).statusCode).toBe(404);
  expect(receiver.received).toEqual([]);
});
