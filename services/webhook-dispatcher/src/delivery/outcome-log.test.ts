import { pino } from 'pino';
import { aDelivery } from '../testing/jest-deliveries.ts';
import type { Attempt, Result } from './delivery.ts';
import { outcomeLog } from './outcome-log.ts';

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
  response: 'the body of an answer',
  retryAfter: '5',
  ...more,
});

const written = (result: Omit<Result, 'delivery'>): unknown[] => {
  const lines: unknown[] = [];
  const base = { base: null, timestamp: false, formatters: { level: (label: string) => ({ level: label }) } };
  const log = pino(base, { write: (line: string) => void lines.push(JSON.parse(line)) });
  outcomeLog(log)([{ delivery, ...result }]);
  return lines;
};

test('what arrived is one line, without what was sent or answered', () => {
  const result = {
    attempt: attempt({ outcome: 'delivered', statusCode: 204 }),
    status: 'delivered',
    nextAt: null,
  } as const;
  expect(written(result)).toEqual([
    { level: 'info', ...about, attempt: 5, outcome: 'delivered', statusCode: 204, durationMs: 12, msg: 'delivered' },
  ]);
});

test('what did not is one that says why, and when it is tried again', () => {
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
    { ...line, nextAttemptAt: '1970-01-01T00:00:01.000Z', msg: 'not delivered, to be tried again' },
  ]);
  expect(written({ attempt: failed, status: 'failed', nextAt: null })).toEqual([
    { ...line, msg: 'not delivered, and given up' },
  ]);
});

test('so is what ended without an attempt', () => {
  expect(written({ attempt: null, status: 'failed', nextAt: null })).toMatchObject([{ level: 'info', ...about }]);
});
