import { setTimeout as sleep } from 'node:timers/promises';
import { type Pool, startLeaderElection } from '@cpg/postgres';
import { type Logger, newContext } from '@cpg/runtime';
import pMap from 'p-map';
import type { OrdersClient } from '../clients/orders.ts';
import { assignedReferences, type AssignedReference } from '../projections/assigned-references.ts';
import type { OutsideProvider } from './provider.ts';
import type { RecordReport } from './reported-payment.ts';

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

export interface LostCallbacksOptions {
  readonly providers: readonly OutsideProvider[];
  readonly readModel: Pool;
  readonly orders: Pick<OrdersClient, 'summary'>;
  readonly record: RecordReport;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Asks the providers for the payments of open orders, because a callback can get lost. Resolves to a function that
 *  asks for every order that reached one of the ages since the last call. */
export const lostCallbacks = ({ providers, readModel, orders, record, now, log }: LostCallbacksOptions) => {
  const byName = new Map(providers.map((provider) => [provider.name, provider]));

  const ask = async ({ orderId, provider: name, reference }: AssignedReference): Promise<void> => {
    const context = newContext('service:payments');
    const order = await orders.summary(orderId, context);
    if (!order || order.status === 'paid') return;
    for (const report of await byName.get(name)!.query(reference)) await record(name, report, context);
  };
  const askAll = async (references: readonly AssignedReference[], signal: AbortSignal): Promise<void> => {
    const failures: unknown[] = [];
    const askNext = async (reference: AssignedReference) => {
      if (!signal.aborted) await ask(reference).catch((error: unknown) => failures.push(error));
    };
    await pMap(references, askNext, { concurrency: CONCURRENCY });
    if (failures.length > 0) log.warn({ err: failures[0], failures: failures.length }, 'providers gave no answer');
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
    await askAll(due.slice(0, MAX_PER_TICK), signal);
    askedUpTo = upTo;
  };
};

/** Asks the providers while this process leads. */
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
      const askDue = lostCallbacks(options);
      while (!signal.aborted) {
        // The next tick asks for what this one missed.
        await askDue(signal).catch((error: unknown) => options.log.warn({ err: error }, 'no provider was asked'));
        await sleep(TICK_MS, undefined, { signal }).catch(() => {});
      }
    },
  });
