import { TOPICS } from '@cpg/contracts';
import { decode } from './batch-handler.ts';

const message = {
  specversion: '1.0',
  id: 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9',
  source: '/payments',
  type: 'payment.failed',
  subject: 'pay_01KGA4T1C2E4G6J8M0P2R4T6V8',
  time: '2026-01-31T12:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: 'urn:cpg:schemas:payment.failed.v1',
  sequence: '3',
  correlationid: 'req_1',
  causationid: 'req_1',
  merchantid: 'mer_01KG9ZZZ6T8V0X2Z4B6D8F0H2K',
  orderid: 'ord_01KGA4S9HN3P5R7T9V1X3Z5B7D',
  cpghash: 'ab12',
  data: {
    change: { failureReason: 'dropped', seenAt: '2026-01-31T11:59:00.000Z', at: '2026-01-31T12:00:00.000Z' },
    resource: { id: 'pay_1' },
  },
};
const bytes = (value: unknown) => Buffer.from(JSON.stringify(value));

describe('a message of a newer version', () => {
  test('keeps its unknown fields', () => {
    const newer = {
      ...message,
      traceparent: '00-1',
      data: { ...message.data, change: { ...message.data.change, code: 7 } },
    };
    expect(decode(TOPICS.payments, bytes(newer))).toEqual({ ok: true, message: newer });
  });

  test('is not dead-lettered when its type is unknown', () => {
    const newer = { ...message, type: 'payment.gifted', data: { change: {}, resource: null } };
    expect(decode(TOPICS.payments, bytes(newer))).toEqual({ ok: true, message: newer });
  });
});

test('a message without a required field is refused with the path of the field', () => {
  const broken = { ...message, data: { ...message.data, change: { at: message.time } } };
  expect(decode(TOPICS.payments, bytes(broken))).toEqual({
    ok: false,
    reason: expect.stringContaining('data.change.failureReason'),
  });
});
