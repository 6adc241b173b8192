import type { DomainMessage } from '@cpg/contracts';
import { isFenced, type Publisher } from '@cpg/kafka';
import { withTimeout } from '@cpg/runtime';
import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { FencedError } from './checkpoint.ts';
import { type LeaderSubscription, type LeaderSubscriptionOptions, subscribeAsLeader } from './leader-subscription.ts';

/** Names the checkpoint of a relay. */
export const RELAY = 'relay';

export interface RelayOptions extends Omit<LeaderSubscriptionOptions, 'name' | 'fencePredecessors'> {
  /** Used by this relay only: each term as leader opens it again. */
  readonly publisher: Publisher;
  readonly topic: string;
  /** The message of an event, or null when the event is not published. The same event always gives the same message
   *  id. */
  readonly messageOf: (event: AllStreamResolvedEvent) => Promise<DomainMessage | null>;
}

// A Kafka transaction costs more than most batches, so several batches share one.
// `read_committed` consumers see events up to `maxDelayMs` late, only under continuous load.
const COMMIT = { idleMs: 25, maxDelayMs: 500 };

// A service has 10 s to stop. During a Kafka outage the client would retry for longer.
const STOP_TIMEOUT_MS = 6_000;

/** Publishes the log to a topic in log order, at least once. The checkpoint moves only after all replicas have the
 *  messages and the transaction is committed. A relay that lost its leadership is fenced and cannot publish, however
 *  long it was paused. */
export const startRelay = ({ publisher, topic, messageOf, ...options }: RelayOptions): LeaderSubscription => {
  const publish = async (events: readonly AllStreamResolvedEvent[]) => {
    const messages: DomainMessage[] = [];
    for (const event of events) {
      const message = await messageOf(event);
      if (message) messages.push(message);
    }
    if (messages.length > 0) await publisher.send(topic, messages).catch(asFenced);
  };
  const subscription = subscribeAsLeader(
    { ...options, name: RELAY, fencePredecessors: publisher.open },
    {
      handle: publish,
      handleParked: async (event) => {
        await publish([event]);
        await publisher.commit().catch(asFenced);
      },
      flush: {
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
      withTimeout(STOP_TIMEOUT_MS, subscription.stop()).catch((error: unknown) =>
        options.log.warn({ err: error }, 'relay did not stop in time: uncommitted events are published again'),
      ),
  };
};

const asFenced = (error: unknown): never => {
  throw isFenced(error) ? new FencedError('another relay is the leader now', { cause: error }) : error;
};
