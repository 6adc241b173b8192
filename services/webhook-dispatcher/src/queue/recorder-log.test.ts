import { pino } from 'pino';
import { aDelivery } from '../testing/jest-deliveries.ts';
import type { Attempt, Result } from '../delivery/delivery.ts';
import { logOutcomes } from './recorder.ts';

const delivery = aDelivery({ attempts: 1, attemptsBefore: 3 });
const about = {
  deliveryId: delivery.id,
  webhookId: delivery.webhookId,
  eventId: delivery.event.id,
  orderId: delivery.orderId,
};
const attempt = (more: Partial<Attempt>): Attempt => ({
  outcome: 'refused',
  startedAt: new Date(0),
  durationMs: 12,
  response: 'the body of a response',
  retryAfter: '5',
  ...more,
});

const written = (result: Omit<Result, 'delivery'>, level = 'info'): unknown[] => {
  const lines: unknown[] = [];
  const base = { level, base: null, timestamp: false, formatters: { level: (label: string) => ({ level: label }) } };
  const log = pino(base, { write: (line: string) => void lines.push(JSON.parse(line)) });
  logOutcomes([{ delivery, ...result }], log);
  return lines;
};

test('logs a delivered event for debugging alone, without request or response bodies', () => {
  const result = {
    attempt: attempt({ outcome: 'delivered', statusCode: 204 }),
    status: 'delivered',
    nextAt: null,
  } as const;
  expect(written(result)).toEqual([]);
  expect(written(result, 'debug')).toEqual([
    { level: 'debug', ...about, attempt: 5, outcome: 'delivered', statusCode: 204, durationMs: 12, msg: 'delivered' },
  ]);
});

test('logs why an attempt failed, and when it is retried', () => {
  const failed = attempt({ outcome: 'unreachable', error: 'connect ECONNREFUSED' });
  const line = {
    level: 'warn',
    ...about,
    attempt: 5,
    outcome: 'unreachable',
    durationMs: 12,
    reason: 'connect ECONNREFUSED',
  };
  expect(written({ attempt: failed, status: 'pending', nextAt: new Date(1_000) })).toEqual([
    { ...line, nextAttemptAt: '1970-01-01T00:00:01.000Z', msg: 'attempt failed, will retry' },
  ]);
  expect(written({ attempt: failed, status: 'failed', nextAt: null })).toEqual([{ ...line, msg: 'delivery failed' }]);
});

test('logs deliveries that failed without an attempt', () => {
  expect(written({ attempt: null, status: 'failed', nextAt: null })).toMatchObject([{ level: 'info', ...about }]);
});
