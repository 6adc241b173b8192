import type { DomainMessage } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import type { Instance } from '../instance.ts';
import { ALL_EVENTS, type Dispatchers, dispatchers, message } from './jest-dispatchers.ts';
import { type Receiver, startReceiver } from './jest-receiver.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const FAST = { ordersPerStep: 2, pollMs: 20 };
export const ago = (ms: number) => new Date(Date.now() - ms);
export const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);

/** Starts a replay; by default of all events of the webhook's merchant. */
export const replay = (
  instance: Instance,
  webhook: { id: string; merchantId: string },
  more: { from?: Date; to?: Date; types?: readonly string[]; id?: string } = {},
) => {
  const { from = ago(400 * DAY_MS), to = new Date(), types = ALL_EVENTS, id = `replay_${newId('event')}` } = more;
  const { id: webhookId, merchantId } = webhook;
  return instance.startReplay({ id, webhookId, merchantId, from, to, types });
};

/** `order.paid` events of different orders of a merchant, a minute apart, the oldest first. */
export const paidOrders = (count: number, merchantId: string, newestAgoMs = 0) =>
  Array.from({ length: count }, (_, n) =>
    message({ type: 'order.paid', merchantId, time: ago(newestAgoMs + (count - n) * 60_000).toISOString() }),
  );

/** Creates a database and a receiver per test. */
export const replaySetup = () => {
  let system: Dispatchers;
  let receiver: Receiver;
  beforeEach(async () => {
    [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
  });
  afterEach(async () => {
    await system.close();
    await receiver.close();
  });
  return {
    system: () => system,
    receiver: () => receiver,
    /** Adds events to the history of orders and payments. */
    happen: (events: readonly DomainMessage[]) => void system.history.happened.push(...events),
    keys: () => receiver.received.map(({ headers }) => headers['x-idempotency-key']),
    /** Resolves once `count` deliveries exist and all are delivered. */
    allDelivered: (count: number) =>
      system.eventually(
        `select 1 from webhooks.deliveries having bool_and(status = 'delivered') and count(*) = ${count}
         and (select count(*) from webhooks.queue) = 0`,
      ),
    finished: (count = 1) =>
      system.eventually(`select 1 from webhooks.replays where finished_at is not null having count(*) = ${count}`),
    rowsOf: async (sql: string) => (await system.pool.query(sql)).rows,
  };
};
