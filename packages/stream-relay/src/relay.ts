import type { DomainMessage } from '@cpg/contracts';
import type { Publisher } from '@cpg/kafka';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { followAlone, type Follower, type FollowerOptions } from './follower.ts';

export interface RelayOptions extends Omit<FollowerOptions, 'name'> {
  readonly publisher: Publisher;
  readonly topic: string;
  /** The message of an event, or null when there is nothing to publish. The same event always makes the same message id. */
  readonly messageOf: (event: AllStreamResolvedEvent) => Promise<DomainMessage | null>;
}

// A message that comes after a rest goes out at once; under load, batches form.
const EVERY_MS = 25;

/** Publishes the log to a topic: in the order of the log, at least once, the checkpoint moving only after all replicas have the messages. */
export const relay = ({ publisher, topic, messageOf, ...options }: RelayOptions): Follower =>
  followAlone({ everyMs: EVERY_MS, ...options, name: 'relay' }, async (events, position, checkpoint) => {
    const messages: DomainMessage[] = [];
    for (const event of events) {
      const message = await messageOf(event);
      if (message) messages.push(message);
    }
    if (messages.length > 0) await publisher.publish(topic, messages);
    await checkpoint.save(options.pool, position);
  });
