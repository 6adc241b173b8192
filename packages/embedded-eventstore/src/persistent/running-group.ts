import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RefusedError } from '../refusals.ts';
import type { GroupRow } from '../storage/group-rows.ts';
import type { Store } from '../store.ts';
import type { ReadMessage } from '../subscriptions/messages.ts';
import { type Effect, Group, type Message, type NackAction } from './group.ts';
import { Meter } from './meter.ts';
import { ParkedMessages, parkedStreamOf } from './parked-messages.ts';
import { follow, messageOf, placeOf } from './source.ts';

/** One connected consumer. */
export interface Subscriber {
  readonly id: string;
  /** How many messages it takes at a time. */
  readonly capacity: number;
  readonly user: string;
  readonly from: string;
  readonly connectionName: string;
  /** Is sent nothing before this. */
  readonly welcome: (subscriptionId: string) => void;
  /** False if it does not read: it gets nothing more until `unblock`. */
  readonly send: (message: Message) => boolean;
  readonly drop: (reason: RefusedError) => void;
}

export interface GroupOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** Resolves once the checkpoint is committed. */
  readonly saveCheckpoint: (row: GroupRow, place: bigint) => Promise<void>;
}

const RETRY_MS = 500;

/** A group at work: reads ahead for its subscribers, sends, parks, and keeps how far they have come. */
export class RunningGroup {
  readonly row: GroupRow;
  readonly meter = new Meter();
  readonly parked: ParkedMessages;
  readonly #options: GroupOptions;
  readonly #group: Group;
  readonly #subscribers = new Map<string, { readonly subscriber: Subscriber; readonly meter: Meter }>();
  readonly #stopping = new AbortController();
  #waiting: (() => void)[] = [];
  #replaying: Promise<void> | null = null;
  #saving: Promise<void> = Promise.resolve();
  #isCaughtUp = false;
  #checkpoint: bigint | null;
  #saved = { count: 0, parkedCount: 0, atMs: 0, isOngoing: false };

  constructor(row: GroupRow, options: GroupOptions) {
    this.row = row;
    this.#options = options;
    this.#checkpoint = row.checkpoint;
    this.#group = new Group(row.settings, row.checkpoint ?? row.start);
    this.parked = new ParkedMessages(options.store, parkedStreamOf(row.source, row.name));
    void this.#pull();
  }

  get state() {
    return {
      isLive: this.#isCaughtUp && this.#group.room > 0,
      checkpoint: this.#checkpoint,
      seen: this.#group.source.seen,
      counts: this.#group.counts,
      subscribers: [...this.#subscribers.values()].map(({ subscriber, meter }) => ({
        subscriber,
        meter,
        ...this.#group.consumers.loadOf(subscriber.id),
      })),
    };
  }

  /** Throws RefusedError when there are as many subscribers as there may be, or the group has stopped. */
  join(subscriber: Subscriber): void {
    const { source, name, settings } = this.row;
    if (this.#stopping.signal.aborted) {
      throw new RefusedError({ kind: 'persistent-subscription-dropped', stream: source, group: name });
    }
    if (settings.maxSubscriberCount > 0 && this.#subscribers.size >= settings.maxSubscriberCount) {
      throw new RefusedError({ kind: 'maximum-subscribers-reached', stream: source, group: name });
    }
    subscriber.welcome(`${source}::${name}`);
    this.#subscribers.set(subscriber.id, { subscriber, meter: new Meter() });
    this.#perform(this.#group.connected(subscriber.id, subscriber.capacity, this.#options.now()));
  }

  leave(id: string): void {
    if (this.#subscribers.delete(id)) this.#perform(this.#group.disconnected(id, this.#options.now()));
  }

  unblock(id: string): void {
    this.#perform(this.#group.blocked(id, false, this.#options.now()));
  }

  acknowledge(ids: readonly string[]): void {
    this.#perform(this.#group.acknowledged(ids, this.#options.now()));
    this.#saveIfDue(false);
  }

  refuse(ids: readonly string[], action: NackAction, reason: string): void {
    this.#perform(this.#group.refused(ids, action, reason, this.#options.now()));
    this.#saveIfDue(false);
  }

  tick(): void {
    this.#perform(this.#group.ticked(this.#options.now()));
    this.#saveIfDue(true);
  }

  /** Has the parked messages delivered again, those before revision `stopAt` or all there are now. They stay parked
   *  until a subscriber is done with them. */
  async replay(stopAt: bigint | null): Promise<void> {
    if (this.#replaying) return;
    const end = await this.parked.end();
    this.#replaying ??= this.#replay(stopAt !== null && stopAt < end ? stopAt : end).finally(() => {
      this.#replaying = null;
    });
  }

  /** Lets go of the subscribers. Resolves once nothing more is written; `saves` tells if progress still is. */
  async stop(reason: RefusedError, saves: boolean): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    for (const { subscriber } of this.#subscribers.values()) subscriber.drop(reason);
    this.#subscribers.clear();
    await this.#saving;
    if (saves) await this.#save();
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'park') void this.#park(effect.message, effect.reason);
      else this.#send(effect.subscriber, effect.message);
    }
    this.#wake();
  }

  #send(id: string, message: Message): void {
    const to = this.#subscribers.get(id);
    if (!to) return;
    this.meter.count();
    to.meter.count();
    if (!to.subscriber.send(message)) this.#group.blocked(id, true, this.#options.now());
  }

  /** Tries until it is written: until then the message is open, and comes again after a restart. */
  async #park(message: Message, reason: string): Promise<void> {
    const { now } = this.#options;
    const [id, at] = [randomUUID(), now()];
    const parked = await this.#persist(() => this.parked.add(message.event, reason, at, id));
    if (parked) this.#group.settled(message);
  }

  async #pull(): Promise<void> {
    const { store } = this.#options;
    const { signal } = this.#stopping;
    await this.#persist(async () => {
      await this.#isWanted();
      for await (const read of untilClosed(follow(store, this.row, this.#group.source.seen, signal))) {
        if (read.kind === 'caught-up') this.#isCaughtUp = true;
        if (read.kind === 'checkpoint') this.#group.source.pass(read.position);
        if (read.kind === 'event' && read.event) {
          const place = placeOf(this.row.source, read.event);
          const message = await messageOf(store.reader, read.event, { origin: 'source', place }, this.row.settings);
          if (message) this.#perform(this.#group.read(message, this.#options.now()));
          else this.#group.source.pass(place);
        }
        await this.#isWanted();
      }
    });
  }

  async #replay(end: bigint): Promise<void> {
    const { reader } = this.#options.store;
    const settings = { ...this.row.settings, resolveLinks: true };
    await this.#persist(async () => {
      for await (const link of this.parked.between(this.#group.parked.seen + 1n, end)) {
        const message = await messageOf(reader, link, { origin: 'parked', place: link.revision }, settings);
        await this.#until(() => this.#group.room > 0);
        if (this.#stopping.signal.aborted) return;
        if (message) this.#perform(this.#group.read(message, this.#options.now()));
        else this.#group.parked.pass(link.revision);
      }
    });
  }

  #saveIfDue(isTick: boolean): void {
    const { minCheckpointCount, maxCheckpointCount, checkpointAfterMs } = this.row.settings;
    const moved = this.#group.source.doneCount - this.#saved.count;
    const isOld = this.#options.now() - this.#saved.atMs >= checkpointAfterMs;
    const isDue = moved > 0 && (moved >= maxCheckpointCount || (isTick && isOld && moved >= minCheckpointCount));
    const isTruncated = isTick && this.#group.parked.doneCount > this.#saved.parkedCount;
    if ((!isDue && !isTruncated) || this.#saved.isOngoing || this.#stopping.signal.aborted) return;
    this.#saving = this.#save();
  }

  /** A fault is not told: what was not saved is done again after a restart, and tried again before that. */
  async #save(): Promise<void> {
    this.#saved.isOngoing = true;
    try {
      const { done, doneCount } = this.#group.source;
      if (doneCount > this.#saved.count) {
        await this.#options.saveCheckpoint(this.row, done);
        this.#checkpoint = done;
        this.#saved.count = doneCount;
      }
      const { done: replayed, doneCount: replayedCount } = this.#group.parked;
      if (replayedCount > this.#saved.parkedCount) {
        await this.parked.truncate(replayed + 1n);
        this.#saved.parkedCount = replayedCount;
      }
    } catch (error) {
      this.#options.log(`progress of ${this.row.source}::${this.row.name} is not saved: ${(error as Error).message}`);
    } finally {
      this.#saved.atMs = this.#options.now();
      this.#saved.isOngoing = false;
    }
  }

  /** True once `work` is done; what fails is tried again until the group stops. */
  async #persist(work: () => Promise<void>): Promise<boolean> {
    const { signal } = this.#stopping;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        await work();
        return true;
      } catch (error) {
        const { source, name } = this.row;
        if (isFirst) this.#options.log(`group ${source}::${name} tries until it can: ${(error as Error).message}`);
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
    return false;
  }

  #isWanted(): Promise<void> {
    return this.#until(() => this.#subscribers.size > 0 && this.#group.room > 0);
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo() && !this.#stopping.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** A stream with a tombstone has come to its end. */
async function* untilClosed(messages: AsyncIterable<ReadMessage>): AsyncGenerator<ReadMessage> {
  try {
    yield* messages;
  } catch (error) {
    if (!(error instanceof RefusedError && error.refusal.kind === 'stream-deleted')) throw error;
  }
}
