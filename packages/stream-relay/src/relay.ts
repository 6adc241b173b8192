import type { DomainMessage } from '@cpg/contracts';
import { isShutOut, type Publisher } from '@cpg/kafka';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { FencedError } from './checkpoint.ts';
import { followAlone, type Follower, type FollowerOptions } from './follower.ts';

export interface RelayOptions extends Omit<FollowerOptions, 'name' | 'shutOutOthers'> {
  /** Of this relay and no other: it is opened anew for each term as leader. */
  readonly publisher: Publisher;
  readonly topic: string;
  /** The message of an event, or null when there is nothing to publish. The same event always makes the same message id. */
  readonly messageOf: (event: AllStreamResolvedEvent) => Promise<DomainMessage | null>;
}

// As long as it worked: under load batches form, and half of a busy process is left to those who wait for an answer.
const restAfter = (workedMs: number): number => Math.min(workedMs, 25);

/** Publishes the log to a topic: in the order of the log, at least once, the checkpoint moving only after all replicas have the messages.
 *  A relay that another has taken over from cannot publish any more, whatever it was held up in. */
export const relay = ({ publisher, topic, messageOf, ...options }: RelayOptions): Follower => {
  const follower = { restMs: restAfter, ...options, name: 'relay', shutOutOthers: publisher.open };
  return followAlone(follower, async (events, position, checkpoint) => {
    const messages: DomainMessage[] = [];
    for (const event of events) {
      const message = await messageOf(event);
      if (message) messages.push(message);
    }
    if (messages.length > 0) await publisher.publish(topic, messages).catch(asFenced);
    await checkpoint.save(options.pool, position);
  });
};

const asFenced = (error: unknown): never => {
  throw isShutOut(error) ? new FencedError('another relay publishes now', { cause: error }) : error;
};
