import { EventId, exampleMessage, type ResourceMessage, WebhookPayload } from '@cpg/contracts';
import { passes, renderMessage } from './render.ts';

const message = exampleMessage('order.paid') as ResourceMessage;

test('a message of one webhook event gives it its own id', () => {
  const [event, ...others] = renderMessage(message);
  expect(others).toEqual([]);
  expect(event).toMatchObject({ id: message.id, type: 'order:paid' });
});

test('several webhook events of one message have ids of their own, the same each time', () => {
  const types = ['order:updated', 'order:paid'] as const;
  const events = renderMessage(message, types);
  expect(events.map(({ type }) => type)).toEqual(types);
  expect(events.map(({ body }) => WebhookPayload.parse(JSON.parse(body.toString())).event)).toEqual(types);
  const ids = events.map(({ id }) => id);
  expect(ids[0]).toBe(message.id);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) expect(EventId.parse(id)).toBe(id);
  expect(renderMessage(message, types).map(({ id }) => id)).toEqual(ids);
});

test('a refund is in its own event, beside the payment', () => {
  const refunded = exampleMessage('payment.refunded');
  const [event] = renderMessage(refunded);
  const { resource, change } = refunded.data;
  expect(WebhookPayload.parse(JSON.parse(event!.body.toString()))).toMatchObject({
    data: resource,
    refund: {
      id: change.refundId,
      merchant_id: resource.merchant_id,
      payment_id: resource.id,
      order_id: resource.order_id,
      status: 'recorded',
      amount: '14.030000',
      currency: resource.currency,
      reason: change.reason,
      tx_hash: change.txHash,
      network: change.network,
      destination: change.destination,
      created_at: change.at,
    },
  });
  expect(renderMessage(message)[0]!.body.toString()).not.toContain('"refund"');
});

test('a payment is announced when it is received and when it becomes an orphan, with how the merchant knows its order', () => {
  const order = { external_reference_id: 'cart-7', metadata: { shop: 'b2c' } };
  const bodiesOf = (type: 'payment.received' | 'payment.orphaned', known: object) => {
    const message = exampleMessage(type);
    const { order: _, ...data } = message.data;
    const events = renderMessage({ ...message, data: { ...data, ...known } });
    return events.map(({ body }) => WebhookPayload.parse(JSON.parse(body.toString())));
  };
  expect(bodiesOf('payment.received', { order })).toMatchObject([{ event: 'payment:received', order }]);
  expect(bodiesOf('payment.orphaned', { order })).toMatchObject([
    { event: 'payment:orphaned', data: { status: 'orphan', orphan_reason: 'canceled' }, order },
  ]);
  const [unknown] = bodiesOf('payment.orphaned', {});
  expect(unknown).not.toHaveProperty('order');
});

test('a message that merchants do not receive gives no webhook event', () =>
  expect(renderMessage(exampleMessage('payment.confirmed') as ResourceMessage)).toEqual([]));

describe('a filter by metadata of the order', () => {
  const eventOf = (type: 'order.paid' | 'payment.applied', changes: object) => {
    const example = exampleMessage(type);
    return renderMessage({ ...example, data: { ...example.data, ...changes } })[0]!;
  };
  const about = (metadata?: object) => {
    const { metadata: _, ...resource } = exampleMessage('order.paid').data.resource;
    return eventOf('order.paid', { resource: { ...resource, ...(metadata && { metadata }) } });
  };

  test.each<[filter: Record<string, string>, metadata: object | undefined, isPassed: boolean]>([
    [{ shop: 'b2c' }, { shop: 'b2c', table: 7 }, true],
    [{ shop: 'b2c' }, { shop: 'b2b' }, false],
    [{ shop: 'b2c' }, { Shop: 'b2c' }, false],
    [{ shop: 'b2c' }, { other: 'b2c' }, false],
    [{ shop: 'b2c' }, undefined, false],
    [{ shop: 'b2c' }, { shop: ['b2c'] }, false],
    [{ shop: '7' }, { shop: 7 }, true],
    [{ shop: 'true' }, { shop: true }, true],
    [{ shop: 'null' }, { shop: null }, false],
    [{ shop: '' }, { shop: '' }, true],
    [{ constructor: 'b2c' }, {}, false],
  ])('%j with the metadata %j: %s', (filter, metadata, isPassed) =>
    expect(passes(filter, about(metadata))).toBe(isPassed),
  );

  test('no filter lets every event through', () => {
    expect([about(), about({ shop: 'b2c' })].map((event) => passes(null, event))).toEqual([true, true]);
  });

  test('of an event about a payment reads its order, not the metadata of the payment', () => {
    const ofShop = (shop: string) => ({ external_reference_id: 'cart-1', metadata: { shop } });
    const resource = { ...exampleMessage('payment.applied').data.resource, metadata: { shop: 'b2c' } };
    const passed = [{ order: ofShop('b2c') }, { order: ofShop('b2b') }, { order: undefined }].map((changes) =>
      passes({ shop: 'b2c' }, eventOf('payment.applied', { resource, ...changes })),
    );
    expect(passed).toEqual([true, false, false]);
  });
});
