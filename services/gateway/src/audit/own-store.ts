import { readStoreIdentity } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** Throws unless orders or payments have identified the event store as one of this environment. */
export const requireOwnStore = async (client: EventStoreDBClient, environment: string): Promise<void> => {
  const identity = await readStoreIdentity(client);
  if (identity?.environment === environment) return;
  throw new Error(
    identity
      ? `ENVIRONMENT is ${environment}, but the event store at EVENTSTORE_URL belongs to ${identity.environment}`
      : 'the event store has no identity yet: orders and payments write it when they start',
  );
};
