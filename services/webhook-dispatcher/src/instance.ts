import type { Pool } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';
import type { History } from './replay/past-events.ts';
import { releaseLeasesExcept } from './queue/queue-table.ts';
import { createLeaseChanges, type Leases, startLeases } from './queue/leases.ts';
import { createPartitions, type Partitions, type Retention } from './queue/partitions.ts';
import { recordResults } from './queue/results.ts';
import type { Directory } from './webhooks/directory.ts';
import { type Capacity, CAPACITY } from './queue/leased-deliveries.ts';
import { type Claims, startClaims } from './queue/claims.ts';
import type { Result } from './delivery/delivery.ts';
import { Dispatcher } from './queue/dispatcher.ts';
import { ENDPOINT_LIMITS, type EndpointLimits } from './attempts/endpoint.ts';
import { createIngest } from './ingest/ingest.ts';
import { createRecorder } from './queue/recorder.ts';
import { type ReplayPace, type Replays, replaysUnavailable, startReplays } from './replay/replays.ts';
import { GONE, type Schedule } from './delivery/schedule.ts';
import type { Sender } from './attempts/send.ts';

export interface InstanceOptions {
  readonly pool: Pool;
  readonly sender: Sender;
  readonly webhooks: Directory;
  readonly schedule: Schedule;
  readonly retention: Retention;
  readonly now: () => Date;
  /** The time by which retention ends: 1970 while the clock is not trusted. */
  readonly endsBy: () => Date;
  readonly random: () => number;
  readonly log: Logger;
  readonly onRecorded?: (results: readonly Result[]) => void;
  readonly limits?: EndpointLimits;
  readonly capacity?: Capacity;
  readonly leaseMs?: number;
  readonly pollMs?: number;
  /** The source of replayed events. Without it replays are refused. */
  readonly history?: History | undefined;
  readonly replays?: ReplayPace;
}

const REFRESH_EVERY_MS = 1_000;

/** Starts one instance of the dispatcher. Any number of them share the queue; other instances take over what one leaves
 *  unfinished. */
export const startInstance = async (options: InstanceOptions) => {
  const { pool, webhooks, now, endsBy, log, limits = ENDPOINT_LIMITS, capacity = CAPACITY, onRecorded } = options;
  const partitions = createPartitions(pool, { now, endsBy, retention: options.retention });
  await partitions.ensureAhead();

  const leases: Leases = await startLeases({
    ...options,
    onLost: () => dispatcher.dropWaiting(),
  });
  const changes = createLeaseChanges(async () => {
    await releaseLeasesExcept(pool, leases.holder(), dispatcher.positions());
  }, options.leaseMs);
  const recorder = createRecorder({
    log,
    write: async (results) => {
      await disableGone(results, options);
      await recordResults(pool, { results, holder: leases.holder(), now: now() });
    },
    onRecorded: (results) => {
      dispatcher.release(results.map(({ delivery }) => delivery));
      claims.wake();
      onRecorded?.(results);
    },
  });
  const dispatcher = new Dispatcher({
    ...options,
    limits,
    capacity,
    mayAttempt: leases.isValid,
    onResult: recorder.push,
    onRequeue: () => claims.requeue(),
  });
  const claims: Claims = startClaims({ ...options, leases, dispatcher, changes });
  const replays = replaysOf(options, { partitions, holder: leases.holder });
  let newestEventMs = -Infinity;
  const refresh = setInterval(() => {
    webhooks
      .load(dispatcher.webhookIds())
      .catch((error: unknown) => log.warn({ err: error }, 'reading webhooks failed, will retry'));
  }, REFRESH_EVERY_MS);

  return {
    ingest: createIngest({ pool, partitions, leases, dispatcher, claims, changes, now }),
    startReplay: replays.start,
    /** Tells the times of consumed events, ISO 8601. */
    sawEventsOf: (times: readonly string[]) =>
      void (newestEventMs = Math.max(newestEventMs, ...times.map((time) => Date.parse(time)))),
    /** The end of what has happened: now, or the newest event while our clock is behind. */
    eventsUntil: (): Date => new Date(Math.max(now().getTime(), newestEventMs)),
    partitions,
    heartbeat: leases.heartbeat,
    counts: () => ({ ...dispatcher.counts(), unrecorded: recorder.pending() }),
    endpoints: () => dispatcher.endpoints(),
    /** Claims nothing more. Attempts in flight have `withinMs` to end. Everything unfinished is free for other
     *  instances at once. */
    stop: async (withinMs: number): Promise<void> => {
      clearInterval(refresh);
      const replaysStopped = replays.stop();
      const drained = dispatcher.stop(withinMs);
      await claims.stop();
      await Promise.all([drained, replaysStopped]);
      await recorder.flush();
      await changes.reconcile();
      await leases.end();
    },
  };
};

export type Instance = Awaited<ReturnType<typeof startInstance>>;

const GONE_REASON = 'the endpoint answered 410 Gone';

const disableGone = async (
  results: readonly Result[],
  { webhooks, log }: Pick<InstanceOptions, 'webhooks' | 'log'>,
): Promise<void> => {
  const gone = results.filter(({ attempt }) => attempt?.statusCode === GONE);
  if (gone.length === 0) return;
  const webhookIds = [...new Set(gone.map(({ delivery }) => delivery.webhookId))];
  await webhooks.disable(webhookIds, GONE_REASON);
  log.info({ webhookIds }, 'webhooks disabled: their endpoints answered 410');
};

const replaysOf = (
  { history, replays, pool, retention, now, log }: InstanceOptions,
  { partitions, holder }: { partitions: Partitions; holder: Leases['holder'] },
): Replays =>
  history ? startReplays({ ...replays, history, pool, partitions, retention, holder, now, log }) : replaysUnavailable;
