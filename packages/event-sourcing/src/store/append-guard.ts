import type { EventStoreDBClient } from '@eventstore/db-client';

const guards = new WeakMap<EventStoreDBClient, () => Promise<void>>();

/** Runs `guard` before every append and tombstone of a client. When it throws, nothing is sent. */
export const guardAppends = (client: EventStoreDBClient, guard: () => Promise<void>): void =>
  void guards.set(client, guard);

export const passGuard = async (client: EventStoreDBClient): Promise<void> => guards.get(client)?.();
