import type {
  PersistentAction,
  PersistentSubscriptionToAll,
  PersistentSubscriptionToStream,
} from '@eventstore/db-client';

type Subscription = PersistentSubscriptionToStream | PersistentSubscriptionToAll;
type Received = Parameters<PersistentSubscriptionToStream['ack']>[0] & { readonly retryCount: number };

/** A subscriber of a group that remembers what it got. */
export class Consumer {
  readonly messages: Received[] = [];
  readonly confirmed: Promise<void>;
  /** Rejects with the error that ends it. */
  readonly ended: Promise<never>;
  readonly #subscription: Subscription;
  #waiting: (() => void)[] = [];

  constructor(subscription: Subscription) {
    this.#subscription = subscription;
    this.confirmed = new Promise((resolve) => subscription.once('confirmation', resolve));
    this.ended = new Promise((_, reject) => subscription.on('error', reject));
    this.ended.catch(() => {});
    subscription.on('data', (message: Received) => {
      this.messages.push(message);
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  get numbers(): number[] {
    return this.messages.map(({ event }) => (event!.data as { n: number }).n);
  }

  /** Resolves once it has got `count` messages, with the number of each. */
  async received(count: number): Promise<number[]> {
    while (this.messages.length < count) {
      await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), this.ended]);
    }
    return this.numbers;
  }

  /** Acknowledges whatever comes. */
  acknowledgeAll(): this {
    this.#subscription.on('data', (message: Received) => void this.#subscription.ack(message).catch(() => {}));
    return this;
  }

  /** Acknowledges messages by the order in which they came. */
  ack(...indices: number[]): Promise<void> {
    return this.#subscription.ack(...indices.map((index) => this.messages[index]!));
  }

  nack(action: PersistentAction, reason: string, ...indices: number[]): Promise<void> {
    return this.#subscription.nack(action, reason, ...indices.map((index) => this.messages[index]!));
  }

  leave(): Promise<void> {
    return this.#subscription.unsubscribe();
  }
}

/** Asks again until it does not throw. */
export const eventually = async <T>(ask: () => T | Promise<T>): Promise<T> => {
  for (let left = 200; ; left--) {
    try {
      return await ask();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
};
