import { isFenced, isRefused, type OutgoingMessage, type Publisher } from '@cpg/platform/kafka';
import { withTimeout } from '@cpg/platform';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { FencedError } from '../subscriptions/checkpoint.ts';
import type { LeaderSubscription, SubscriptionWork } from '../subscriptions/leader-subscription.ts';
import { RefusedMessageError } from '../subscriptions/parked-streams.ts';
import { retiredCheckpoints, type ShardedOptions, subscribeInShards } from '../subscriptions/shards.ts';

/** Names the subscription of a relay. */
export const RELAY = 'relay';

export interface RelayOptions extends Omit<ShardedOptions, 'name'> {
  /** A publisher of its own for each checkpoint. Each term as leader opens it again, and fences the earlier one of the
   *  same checkpoint. */
  readonly publisherFor: (checkpoint: string) => Publisher;
  readonly topic: string;
  /** The message of an event, or null when the event is not published. The same event always gives the same message
   *  id. */
  readonly messageOf: (event: AllStreamResolvedEvent) => Promise<OutgoingMessage | null>;
}

// A Kafka transaction costs more than most batches, so several batches share one.
// `read_committed` consumers see events up to `maxDelayMs` late, only under continuous load.
const COMMIT = { idleMs: 25, maxDelayMs: 500 };

// A service has 10 s to stop. During a Kafka outage the client would retry for longer.
const STOP_TIMEOUT_MS = 6_000;

/** Publishes the log to a topic in log order, at least once. The checkpoint moves only after all replicas have the
 *  messages and the transaction is committed. A relay that lost its leadership is fenced and cannot publish, however
 *  long it was paused. */
export const startRelay = (options: RelayOptions): LeaderSubscription => {
  const subscription = subscribeInShards({ ...options, name: RELAY }, (checkpoint) => relayWork(checkpoint, options));
  return {
    stop: () =>
      withTimeout(STOP_TIMEOUT_MS, subscription.stop()).catch((error: unknown) =>
        options.log.warn({ err: error }, 'relay did not stop in time: uncommitted events are published again'),
      ),
  };
};

const relayWork = (
  checkpointName: string,
  { pool, schema, publisherFor, topic, messageOf }: RelayOptions,
): SubscriptionWork => {
  const publisher = publisherFor(checkpointName);
  let uncommitted = 0;
  /** After Kafka refused one of several messages, until the next flush: each message has a transaction of its own. */
  let sendsAlone = false;
  const open = async () => {
    await publisher.open();
    uncommitted = 0;
  };
  const commit = async () => {
    await publisher.commit().catch(asFenced);
    uncommitted = 0;
  };
  const send = async (messages: readonly OutgoingMessage[]) => {
    try {
      await publisher.send(topic, messages);
      uncommitted += messages.length;
    } catch (error) {
      if (!isRefused(error)) return asFenced(error);
      sendsAlone = true;
      // The transaction is lost: the subscription restarts from the checkpoint.
      if (uncommitted + messages.length > 1) throw error;
      await open();
      throw new RefusedMessageError(`Kafka refuses the message ${messages[0]!.id}`, { cause: error });
    }
  };
  const publish = async (events: readonly AllStreamResolvedEvent[]) => {
    const messages: OutgoingMessage[] = [];
    for (const event of events) {
      const message = await messageOf(event);
      if (message) messages.push(message);
    }
    if (!sendsAlone) return messages.length > 0 ? send(messages) : undefined;
    for (const message of messages) {
      await commit();
      await send([message]);
    }
  };
  return {
    fencePredecessors: async () => {
      // A paused leader of another number of shards must not publish any more.
      for (const retired of await retiredCheckpoints(pool, { schema, name: RELAY })) await fence(publisherFor(retired));
      await open();
    },
    handle: publish,
    handleParked: async (event) => {
      await commit();
      await publish([event]);
      await commit();
    },
    flush: {
      ...COMMIT,
      run: async (position, checkpoint) => {
        await commit();
        await checkpoint.save(pool, position);
        sendsAlone = false;
      },
    },
    close: publisher.close,
  };
};

const fence = async (publisher: Publisher): Promise<void> => {
  try {
    await publisher.open();
  } finally {
    await publisher.close();
  }
};

const asFenced = (error: unknown): never => {
  throw isFenced(error) ? new FencedError('another relay is the leader now', { cause: error }) : error;
};
