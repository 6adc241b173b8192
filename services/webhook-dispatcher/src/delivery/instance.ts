import type { Pool } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';
import { type Leases, startLeases } from '../storage/leases.ts';
import { createPartitions, type Retention } from '../storage/partitions.ts';
import { release, releaseAllBut } from '../storage/queue.ts';
import { recordResults } from '../storage/results.ts';
import type { History } from '../clients/history.ts';
import type { Directory } from '../webhooks/directory.ts';
import { type Claims, startClaims } from './claims.ts';
import type { Result } from './delivery.ts';
import { type Capacity, CAPACITY, createDispatcher } from './dispatcher.ts';
import { ENDPOINT_LIMITS, type EndpointLimits } from './endpoint.ts';
import { createIntake } from './intake.ts';
import { createLeaseChanges } from './lease-changes.ts';
import { outcomeLog } from './outcome-log.ts';
import { createRecorder } from './recorder.ts';
import { noReplays, type ReplayPace, startReplays } from './replays.ts';
import type { Schedule } from './schedule.ts';
import type { Sender } from './send.ts';

export interface InstanceOptions {
  readonly pool: Pool;
  readonly sender: Sender;
  readonly webhooks: Directory;
  readonly schedule: Schedule;
  readonly retention: Retention;
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Logger;
  readonly onRecorded?: (results: readonly Result[]) => void;
  readonly limits?: EndpointLimits;
  readonly capacity?: Capacity;
  readonly leaseMs?: number;
  readonly lookEveryMs?: number;
  /** Where replays learn what happened. Without it there are none. */
  readonly history?: History | undefined;
  readonly replays?: ReplayPace;
}

const GONE_REASON = 'the endpoint answered 410 Gone';
const REFRESH_EVERY_MS = 1_000;

/** One dispatcher among any number: what it holds is leased in the queue, and whatever it cannot finish goes to the others. */
export const startInstance = async (options: InstanceOptions) => {
  const { pool, webhooks, now, log, limits = ENDPOINT_LIMITS, capacity = CAPACITY, onRecorded } = options;
  const changes = createLeaseChanges(async () => {
    await releaseAllBut(pool, leases.holder(), dispatcher.positions());
  }, options.leaseMs);
  const logOutcomes = outcomeLog(log);
  const partitions = createPartitions(pool, { now, retention: options.retention });

  const recorder = createRecorder({
    log,
    write: async (results) => {
      const gone = results
        .filter(({ attempt }) => attempt?.statusCode === 410)
        .map(({ delivery }) => delivery.webhookId);
      if (gone.length > 0) {
        await webhooks.disable([...new Set(gone)], GONE_REASON);
        log.info({ webhookIds: [...new Set(gone)] }, 'webhooks disabled: their endpoints answered 410');
      }
      await recordResults(pool, { results, holder: leases.holder(), now: now() });
    },
    onRecorded: (results) => {
      dispatcher.letGo(results.map(({ delivery }) => delivery));
      claims.wake();
      logOutcomes(results);
      onRecorded?.(results);
    },
  });
  // Asked for a hundred times at once, when as many endpoints time out together: all goes back by one statement.
  let isAsked = false;
  const giveBack = () => {
    if (isAsked) return;
    isAsked = true;
    changes
      .exclusively(async () => {
        isAsked = false;
        const deliveries = dispatcher.takeReturned();
        if (deliveries.length === 0) return;
        const positions = deliveries.map(({ position }) => position);
        await release(pool, leases.holder(), positions).finally(() => dispatcher.letGo(deliveries));
      })
      .catch((error: unknown) => {
        isAsked = false;
        log.warn({ err: error }, 'deliveries could not be given back, trying again');
      });
  };
  const dispatcher = createDispatcher({
    ...options,
    limits,
    capacity,
    mayAttempt: () => leases.valid(),
    onResult: (result) => recorder.push(result),
    onReturned: giveBack,
  });

  await partitions.ensureAhead();
  const leases: Leases = await startLeases({ ...options, onLost: () => dispatcher.abandonAll() });
  const claims: Claims = startClaims({ ...options, leases, dispatcher, changes });
  const { history, retention } = options;
  const replays = history
    ? startReplays({
        ...options.replays,
        ...{ pool, history, partitions, retention, now, log },
        holder: () => leases.holder(),
      })
    : noReplays;
  const refresh = setInterval(() => {
    webhooks
      .load(dispatcher.webhookIds())
      .catch((error: unknown) => log.warn({ err: error }, 'webhooks could not be read, trying again'));
  }, REFRESH_EVERY_MS);

  return {
    takeIn: createIntake({ pool, partitions, leases, dispatcher, claims, changes, now }),
    replay: replays.start,
    partitions,
    beat: () => leases.beat(),
    counts: () => ({ ...dispatcher.counts(), unrecorded: recorder.pending() }),
    endpoints: () => dispatcher.endpoints(),
    /** Takes up nothing more; attempts in flight have `withinMs` to end. What is not done is free for others at once. */
    stop: async (withinMs: number): Promise<void> => {
      clearInterval(refresh);
      const replaysStopped = replays.stop();
      const stopping = dispatcher.stop(withinMs);
      await claims.stop();
      await Promise.all([stopping, replaysStopped]);
      await recorder.flush();
      await changes.settle();
      await leases.end();
    },
  };
};

export type Instance = Awaited<ReturnType<typeof startInstance>>;
