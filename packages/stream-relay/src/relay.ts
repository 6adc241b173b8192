import type { DomainMessage } from '@cpg/contracts';
import { isShutOut, type Publisher } from '@cpg/kafka';
import { within } from '@cpg/runtime';
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

// The end of a transaction and the start of the next cost more than most batches, and nobody here waits for them. Who reads only what is
// committed waits so long: not at all to speak of, but while events come one upon another.
const COMMIT = { quietMs: 25, withinMs: 500 };

// Of the 10 s that a service has to stop. While Kafka is away, its client would try for longer than that.
const STOPS_WITHIN_MS = 6_000;

/** Publishes the log to a topic: in the order of the log, at least once, the checkpoint moving only after all replicas have the messages
 *  and they are committed. A relay that another has taken over from cannot publish any more, whatever it was held up in. */
export const relay = ({ publisher, topic, messageOf, ...options }: RelayOptions): Follower => {
  const follower = followAlone(
    { ...options, name: 'relay', shutOutOthers: publisher.open },
    {
      handle: async (events) => {
        const messages: DomainMessage[] = [];
        for (const event of events) {
          const message = await messageOf(event);
          if (message) messages.push(message);
        }
        if (messages.length > 0) await publisher.send(topic, messages).catch(asFenced);
      },
      settle: {
        ...COMMIT,
        run: async (position, checkpoint) => {
          await publisher.commit().catch(asFenced);
          await checkpoint.save(options.pool, position);
        },
      },
    },
  );
  return {
    stop: () =>
      within(STOPS_WITHIN_MS, follower.stop()).catch((error: unknown) =>
        options.log.warn({ err: error }, 'the relay was left as it was: what it had under way comes again'),
      ),
  };
};

const asFenced = (error: unknown): never => {
  throw isShutOut(error) ? new FencedError('another relay publishes now', { cause: error }) : error;
};
