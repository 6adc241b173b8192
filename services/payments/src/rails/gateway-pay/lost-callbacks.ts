import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, newContext } from '@cpg/platform';
import { type Pool, type Queryable, startLeaderElection } from '@cpg/platform/postgres';
import pMap from 'p-map';
import type { OrdersClient } from '../../matching/notify-order.ts';
import type { OutsideProvider } from './provider.ts';
import type { QueryProvider } from './reported-payment.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Ages of an order at which its provider is asked. Most orders are paid within an hour; the last query finds a
 *  payment at the end of the longest deadline. */
export const QUERY_AGES_MS = [
  ...[1, 3, 5, 10, 15, 20, 30, 45, 59, 61, 90].map((minutes) => minutes * MINUTE_MS),
  ...[2, 4, 8, 16, 25, 48, 96, 192, 384, 745].map((hours) => hours * HOUR_MS),
];

const TICK_MS = 15_000;
/** Of a new leader: the time in which another process takes over. */
const FIRST_WINDOW_MS = 5 * MINUTE_MS;
/** References that one tick asks for. More wait for their next age. */
const MAX_PER_TICK = 1_000;
const CONCURRENCY = 8;
const LONGEST_RETRY_MS = 10 * MINUTE_MS;
/** Bounds the memory while a provider is unavailable. More wait for their next age. */
const MAX_FAILED = 10_000;

/** A reference whose last question failed. */
interface Failed {
  readonly reference: AssignedReference;
  readonly attempts: number;
  /** By the monotonic clock. */
  readonly retryAtMs: number;
}

export interface LostCallbacksOptions {
  readonly providers: readonly OutsideProvider[];
  readonly readModel: Pool;
  readonly orders: Pick<OrdersClient, 'summary'>;
  readonly query: QueryProvider;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: () => number;
  readonly log: Logger;
}

/** Asks the providers for the payments of open orders, because a callback can get lost. Resolves to a function that
 *  asks for every order that reached one of the ages since the last call, and for those whose last answer failed. */
export const lostCallbacks = ({
  providers,
  readModel,
  orders,
  query,
  now,
  nowMs = () => performance.now(),
  log,
}: LostCallbacksOptions) => {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  const failed = new Map<string, Failed>();

  const ask = async ({ orderId, provider, reference }: AssignedReference): Promise<void> => {
    const context = newContext('service:payments');
    const order = await orders.summary(orderId, context);
    if (!order || order.status === 'paid') return;
    await query(byName.get(provider)!, reference, context);
  };
  const askAll = async (references: readonly AssignedReference[], signal: AbortSignal): Promise<void> => {
    const failures: unknown[] = [];
    const askNext = async (reference: AssignedReference) => {
      if (signal.aborted) return;
      const key = keyOf(reference);
      const { attempts } = failed.get(key) ?? { attempts: 0 };
      failed.delete(key);
      await ask(reference).catch((error: unknown) => {
        failures.push(error);
        const waitMs = Math.min(LONGEST_RETRY_MS, TICK_MS * 2 ** Math.min(attempts, 10));
        if (failed.size < MAX_FAILED)
          failed.set(key, { reference, attempts: attempts + 1, retryAtMs: nowMs() + waitMs });
      });
    };
    await pMap(references, askNext, { concurrency: CONCURRENCY });
    if (failures.length > 0)
      log.warn(
        { err: failures[0], failures: failures.length },
        'payments of providers are unknown, asking again later',
      );
  };

  let askedUpTo = now().getTime() - FIRST_WINDOW_MS;
  return async (signal: AbortSignal): Promise<void> => {
    const upTo = now().getTime();
    const windows = QUERY_AGES_MS.map((ageMs) => ({ from: new Date(askedUpTo - ageMs), to: new Date(upTo - ageMs) }));
    const due = await assignedReferences(readModel, {
      providers: [...byName.keys()],
      windows,
      limit: MAX_PER_TICK + 1,
    });
    if (due.length > MAX_PER_TICK) log.warn({ asked: MAX_PER_TICK }, 'too many orders to ask their providers at once');
    const again = [...failed.values()].filter(({ retryAtMs }) => retryAtMs <= nowMs()).slice(0, MAX_PER_TICK);
    const asked = [...due.slice(0, MAX_PER_TICK), ...again.map(({ reference }) => reference)];
    await askAll([...new Map(asked.map((reference) => [keyOf(reference), reference])).values()], signal);
    askedUpTo = upTo;
  };
};

const keyOf = ({ provider, reference }: AssignedReference): string => `${provider}/${reference}`;

/** Asks the providers while this process leads. One that does not answer holds up no other one. */
export const startLostCallbacks = ({
  url,
  waitUntilReady,
  ...options
}: LostCallbacksOptions & { readonly url: string; readonly waitUntilReady: () => Promise<void> }) =>
  startLeaderElection({
    url,
    role: 'payments provider queries',
    log: options.log,
    lead: async (signal) => {
      await waitUntilReady();
      const askOn = async (provider: OutsideProvider) => {
        const askDue = lostCallbacks({ ...options, providers: [provider] });
        while (!signal.aborted) {
          // The next tick asks for what this one missed.
          await askDue(signal).catch((error: unknown) => options.log.warn({ err: error }, 'no provider was asked'));
          await sleep(TICK_MS, undefined, { signal }).catch(() => {});
        }
      };
      await Promise.all(options.providers.map(askOn));
    },
  });

/** The reference of an order at an outside provider. */
interface AssignedReference {
  readonly orderId: string;
  readonly provider: string;
  readonly reference: string;
}

interface AssignedSearch {
  readonly providers: readonly string[];
  /** When they were assigned: after `from`, up to `to`. */
  readonly windows: readonly { readonly from: Date; readonly to: Date }[];
  readonly limit: number;
}

/** The references that were assigned within one of the windows, to orders that are not deleted. */
const assignedReferences = async (
  db: Queryable,
  { providers, windows, limit }: AssignedSearch,
): Promise<AssignedReference[]> => {
  // The condition of the index payables_of_outside_providers.
  const { rows } = await db.query<{ order_id: string; provider: string; reference: string }>(
    `select distinct order_id, provider, reference
     from unnest($2::timestamptz[], $3::timestamptz[]) as search (after, up_to)
     join payments.payables on assigned_at > search.after and assigned_at <= search.up_to
     where reference is not null and provider not in ('hosted', 'sandbox') and provider = any($1)
     limit $4`,
    [providers, windows.map(({ from }) => from), windows.map(({ to }) => to), limit],
  );
  return rows.map(({ order_id: orderId, ...row }) => ({ orderId, ...row }));
};
