import { exampleMessage, sampleMessageOf, samplePayloadOf, WebhookEventType, WebhookPayload } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { sampleEvent } from './samples.ts';

const merchantId = newId('merchant');
const payloadOf = (...sample: Parameters<typeof sampleEvent>) =>
  WebhookPayload.parse(JSON.parse(sampleEvent(...sample).body.toString()));
/** A payload with the same text for all ids, hashes and instants, each by its first place. */
const anonymous = (payload: unknown) => {
  const names = new Map<string, string>();
  const name = (found: string) => names.get(found) ?? (names.set(found, `#${names.size}`), names.get(found)!);
  const text = JSON.stringify(payload, (key, value: unknown) => (key === 'metadata' ? undefined : value));
  return text.replaceAll(/(?:mer|ord|pay|rfd)_\w{26}|0x[0-9a-f]{64}|\d{4}-[-\dT:.]{18}Z/g, name);
};

describe.each(WebhookEventType.options)('the sample of %s', (type) => {
  const now = new Date('2026-11-27T04:00:00.123Z');
  const example = sampleMessageOf(type);

  test('is the example of a message that stands for this event, with other ids and times', () => {
    const payload = payloadOf(type, merchantId, now);
    const { event, data, timestamp, object_type } = payload;
    expect(['refund' in payload, 'refund' in samplePayloadOf(type)]).toEqual(
      Array(2).fill(['payment:refunded', 'payment:refund_claimed'].includes(type)),
    );
    expect([event, object_type, timestamp]).toEqual([type, type.split(':')[0], now.getTime()]);
    const expected = WebhookPayload.parse({ event, data: example.data.resource, object_type, timestamp });
    expect(anonymous(data)).toBe(anonymous(expected.data));
    expect(sampleEvent(type, merchantId, now)).toMatchObject({ merchantId, isTest: true, sequence: example.sequence });
  });

  test('happened now, to new resources of the merchant that are marked as a test', () => {
    const { data } = payloadOf(type, merchantId, now);
    const payments = 'payments' in data ? data.payments : [];
    expect(data).toMatchObject({ merchant_id: merchantId, metadata: { test: true } });
    // A claim changes a refund, and no field of its payment.
    if (type !== 'payment:refund_claimed') expect(data.updated_at).toBe(now.toISOString());
    for (const payment of payments)
      expect(payment).toMatchObject({ merchant_id: merchantId, order_id: data.id, metadata: { test: true } });
    const again = payloadOf(type, merchantId, now);
    expect(again.data.id).not.toBe(data.id);
    const { merchantid, orderid } = example;
    const payment = exampleMessage('payment.received').data.resource;
    for (const id of [merchantid, orderid, payment.id, payment.tx_hash!, example.time])
      expect(JSON.stringify(data)).not.toContain(id);
  });
});
