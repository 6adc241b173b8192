import type { Webhook } from '../webhooks/webhook.ts';
import { CAPACITY } from '../queue/leased-deliveries.ts';
import type { Attempt, Delivery, Result } from '../delivery/delivery.ts';
import { Dispatcher, type DispatcherOptions } from '../queue/dispatcher.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';
import type { Request } from '../attempts/send.ts';
import { log } from './jest-log.ts';

export const now = new Date('2026-01-31T12:00:00.000Z');
const nextTurn = () => new Promise((done) => setImmediate(done));

/** A dispatcher that sends nowhere: `end` ends the attempt with that index. Webhooks whose id includes `disabled`,
 *  `deleted` or `unknown` are in that state. */
export const testDispatcher = (given: Partial<DispatcherOptions> = {}) => {
  const sent: { request: Request; end: (attempt: Attempt | null) => void }[] = [];
  const results: Result[] = [];
  const requeued: Delivery[] = [];
  const webhook = (id: string): Webhook => ({
    id,
    merchantId: 'mer_1',
    url: new URL('https://merchant.example'),
    events: [],
    filter: null,
    isEnabled: !id.includes('disabled'),
    keys: () => [Buffer.alloc(32)],
  });
  const dispatcher = new Dispatcher({
    sender: {
      post: (request) => new Promise((end) => sent.push({ request, end })),
      abort: () => sent.forEach(({ end }) => end(null)),
    },
    webhooks: { get: (id) => (id.includes('deleted') ? null : id.includes('unknown') ? undefined : webhook(id)) },
    schedule: [5],
    limits: { ...ENDPOINT_LIMITS, failuresToOpen: 2 },
    capacity: CAPACITY,
    mayAttempt: () => true,
    onResult: (result) => results.push(result),
    onRequeue: () => void requeued.push(...dispatcher.takeRequeued()),
    now: () => now,
    random: () => 0.5,
    log,
    ...given,
  });
  const end = async (index: number, outcome: Partial<Attempt> | null = { outcome: 'delivered' }) => {
    sent[index]!.end(outcome && { outcome: 'refused', startedAt: now, durationMs: 1, ...outcome });
    await nextTurn();
  };
  return { dispatcher, sent, results, requeued, end, sentTo: () => sent.map(({ request }) => request.webhookId) };
};

export const failure: Partial<Attempt> = { outcome: 'refused', statusCode: 500 };
