import { Readable } from 'node:stream';
import { ConfigError, type Logger } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { checkEventStore, type CheckFailedError, connectEventStore } from './connect.ts';
import { explainFailure } from './misconfiguration.ts';

export interface EventStore {
  /** The client of all calls. It stays the same object when the one behind it is replaced. */
  readonly client: EventStoreDBClient;
  /** Readiness check. A client that fails it is replaced by a new one if that one passes. Throws a ConfigError if a
   *  setting is wrong. */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface EventStoreOptions {
  readonly url: string;
  readonly log: Logger;
  readonly connect?: (url: string) => EventStoreDBClient;
}

/** Longer than a discovery over a slow network. A readiness check has no time for it. */
const DIAGNOSIS_TIMEOUT_MS = 5_000;

/** Opens the event store at an `esdb://` address for a service. */
export const openEventStore = ({ url, log, connect = connectEventStore }: EventStoreOptions): EventStore => {
  let current = connect(url);
  const retired: EventStoreDBClient[] = [];
  const subscriptions = new Set<Readable>();
  let isClosed = false;
  let replacing: Promise<void> | null = null;
  /** Why the latest new client failed. */
  let fault: Error | null = null;

  const replace = async (): Promise<void> => {
    const failed = current;
    const fresh = connect(url);
    // A replacement interrupts subscriptions: first see whether the current client has recovered.
    fault = await faultOf(fresh, url, DIAGNOSIS_TIMEOUT_MS);
    const isBetter = fault === null && (await faultOf(failed, url)) !== null && !isClosed;
    if (!isBetter) return void fresh.dispose().catch(() => {});
    current = fresh;
    // Its reads may finish. `dispose` would end subscriptions without an event.
    retired.push(failed);
    for (const subscription of subscriptions) {
      subscription.destroy(new Error('the client of the event store was replaced'));
    }
    log.warn('replaced the client of the event store: it failed while a new client could read and write');
  };
  return {
    client: delegateTo(() => current, subscriptions),
    check: async () => {
      const failure = await faultOf(current, url);
      if (failure === null) {
        fault = null;
        return;
      }
      replacing ??= replace()
        .catch(() => {})
        .finally(() => (replacing = null));
      throw fault instanceof ConfigError ? fault : failure;
    },
    close: async () => {
      isClosed = true;
      await Promise.all([current, ...retired].map((client) => client.dispose()));
    },
  };
};

/** The setting to correct when the event store cannot be read or written; null when it can, or is only unavailable. */
export const explainEventStore = async (client: EventStoreDBClient, url: string): Promise<ConfigError | null> => {
  const fault = await faultOf(client, url, DIAGNOSIS_TIMEOUT_MS);
  return fault instanceof ConfigError ? fault : null;
};

const faultOf = async (client: EventStoreDBClient, url: string, timeoutMs?: number): Promise<Error | null> => {
  try {
    await checkEventStore(client, timeoutMs);
    return null;
  } catch (error) {
    return (await explainFailure(error as CheckFailedError, url)) ?? (error as Error);
  }
};

const delegateTo = (current: () => EventStoreDBClient, subscriptions: Set<Readable>): EventStoreDBClient =>
  new Proxy({} as EventStoreDBClient, {
    get: (_, property) => {
      const client = current();
      const member: unknown = Reflect.get(client, property, client);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, client, args);
        if (String(property).startsWith('subscribe') && result instanceof Readable) {
          subscriptions.add(result);
          result.once('close', () => subscriptions.delete(result));
        }
        return result;
      };
    },
  });
