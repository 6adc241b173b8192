import { type RecordedEvent, sizeOf } from '../events.ts';
import { Consumers, type Routed } from './consumers.ts';
import { Progress } from './progress.ts';
import type { GroupSettings } from './settings.ts';

/** An event on its way through a group, from reading it until it is acknowledged, skipped or parked. */
export interface Message extends Routed {
  /** Of the event as it stands where it was read: what acknowledgements name. */
  readonly id: string;
  readonly event: RecordedEvent;
  /** The link that led to the event, if one did. */
  readonly link?: RecordedEvent;
  /** From the stream of the group, or from its parked messages, and where in there. */
  readonly origin: 'source' | 'parked';
  readonly place: bigint;
  readonly retryCount: number;
}

/** What is left to do after the group changed its state. */
export type Effect =
  | { readonly kind: 'send'; readonly subscriber: string; readonly message: Message }
  | { readonly kind: 'park'; readonly message: Message; readonly reason: string };

export type NackAction = 'unknown' | 'park' | 'retry' | 'skip' | 'stop';

interface InFlight {
  readonly message: Message;
  readonly subscriber: string;
  readonly expiresAtMs: number;
}

/** What waits may have so many bytes, however few messages that are. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

type Limits = Pick<GroupSettings, 'messageTimeoutMs' | 'maxRetryCount' | 'historyBufferSize' | 'strategy'>;

/** Competing consumers of one stream, without I/O: each method is something that happened, and tells what to do about
 *  it. A message is open until a subscriber is done with it or it is `settled`; progress never passes an open one. */
export class Group {
  /** What was read of the stream, and of the parked messages. */
  readonly source: Progress;
  readonly parked = new Progress(-1n);
  readonly consumers: Consumers;
  readonly #limits: Limits;
  readonly #inFlight = new Map<string, InFlight>();
  readonly #retries: Message[] = [];
  readonly #waiting: Message[] = [];
  #waitingBytes = 0;

  /** `start` is the place after which reading begins. */
  constructor(limits: Limits, start: bigint) {
    this.#limits = limits;
    this.source = new Progress(start);
    this.consumers = new Consumers(limits.strategy);
  }

  /** How many more messages it wants to be given. */
  get room(): number {
    if (this.#waitingBytes >= MAX_WAITING_BYTES) return 0;
    return this.#limits.historyBufferSize - this.#waiting.length - this.#retries.length;
  }

  get counts(): { readonly inFlight: number; readonly retries: number; readonly waiting: number } {
    return { inFlight: this.#inFlight.size, retries: this.#retries.length, waiting: this.#waiting.length };
  }

  connected(subscriber: string, capacity: number, nowMs: number): Effect[] {
    this.consumers.add(subscriber, capacity);
    return this.#dispatch(nowMs);
  }

  /** What it had goes to the others. */
  disconnected(subscriber: string, nowMs: number): Effect[] {
    this.consumers.remove(subscriber);
    for (const one of [...this.#inFlight.values()]) if (one.subscriber === subscriber) this.#retry(this.#land(one));
    return this.#dispatch(nowMs);
  }

  /** The subscriber stopped reading, or reads again. */
  blocked(subscriber: string, isBlocked: boolean, nowMs: number): Effect[] {
    this.consumers.block(subscriber, isBlocked);
    return this.#dispatch(nowMs);
  }

  /** Events of one origin are given in the order of their places. */
  read(message: Message, nowMs: number): Effect[] {
    this.#progressOf(message).open(message.place);
    (message.origin === 'source' ? this.#waiting : this.#retries).push(message);
    this.#waitingBytes += sizeOf(message.event);
    return this.#dispatch(nowMs);
  }

  /** Ids that are not in flight are ignored: they were acknowledged before, or their time was over. */
  acknowledged(ids: readonly string[], nowMs: number): Effect[] {
    for (const one of this.#of(ids)) this.settled(this.#land(one));
    return this.#dispatch(nowMs);
  }

  /** As in EventStoreDB, `stop` stops nothing and is a skip. */
  refused(ids: readonly string[], action: NackAction, reason: string, nowMs: number): Effect[] {
    const effects: Effect[] = [];
    for (const one of this.#of(ids)) {
      const message = this.#land(one);
      if (action === 'park')
        effects.push({ kind: 'park', message, reason: `Client explicitly NAK'ed message.\n${reason}` });
      else if (action === 'retry' || action === 'unknown') effects.push(...this.#retryOrPark(message));
      else this.settled(message);
    }
    return [...effects, ...this.#dispatch(nowMs)];
  }

  /** Takes back what was sent too long ago. */
  ticked(nowMs: number): Effect[] {
    const effects: Effect[] = [];
    for (const one of [...this.#inFlight.values()]) {
      if (one.expiresAtMs <= nowMs) effects.push(...this.#retryOrPark(this.#land(one)));
    }
    return [...effects, ...this.#dispatch(nowMs)];
  }

  /** Nothing more will happen to this message. */
  settled(message: Message): void {
    this.#progressOf(message).finish(message.place);
  }

  #dispatch(nowMs: number): Effect[] {
    const { messageTimeoutMs } = this.#limits;
    const expiresAtMs = messageTimeoutMs === 0 ? Infinity : nowMs + messageTimeoutMs;
    const effects: Effect[] = [];
    for (const queue of [this.#retries, this.#waiting]) {
      for (let i = 0; i < queue.length && this.consumers.isAnyFree;) {
        const message = queue[i]!;
        // Ids are unique in a stream, not in $all: one that is in flight waits until it has landed.
        const subscriber = this.#inFlight.has(message.id) ? null : this.consumers.take(message);
        if (subscriber === null) {
          i++;
          continue;
        }
        queue.splice(i, 1);
        this.#waitingBytes -= sizeOf(message.event);
        this.#inFlight.set(message.id, { message, subscriber, expiresAtMs });
        effects.push({ kind: 'send', subscriber, message });
      }
    }
    return effects;
  }

  #of(ids: readonly string[]): InFlight[] {
    return ids.map((id) => this.#inFlight.get(id)).filter((one) => one !== undefined);
  }

  #land({ message, subscriber }: InFlight): Message {
    this.#inFlight.delete(message.id);
    this.consumers.release(subscriber, message);
    return message;
  }

  #retryOrPark(message: Message): Effect[] {
    const { maxRetryCount } = this.#limits;
    if (message.retryCount >= maxRetryCount) {
      return [{ kind: 'park', message, reason: `Reached retry count of ${maxRetryCount}` }];
    }
    this.#retry(message);
    return [];
  }

  /** Retries go first, in the order of the stream; replayed ones in the order they came. */
  #retry(message: Message): void {
    const again = { ...message, retryCount: message.retryCount + 1 };
    const later = ({ origin, place }: Message) => origin === 'source' && place > message.place;
    const index = message.origin === 'source' ? this.#retries.findIndex(later) : -1;
    this.#retries.splice(index < 0 ? this.#retries.length : index, 0, again);
    this.#waitingBytes += sizeOf(message.event);
  }

  #progressOf({ origin }: Message): Progress {
    return origin === 'source' ? this.source : this.parked;
  }
}
