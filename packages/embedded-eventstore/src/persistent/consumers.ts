import type { Strategy } from './settings.ts';

/** What the choice of a subscriber depends on. */
export interface Routed {
  readonly stream: string;
  /** `$correlationId` of the event's metadata, for the strategy that goes by it. */
  readonly correlationId?: string;
}

interface Consumer {
  readonly id: string;
  /** How many messages it takes at a time. */
  readonly capacity: number;
  inFlight: number;
  /** It does not read what it was sent. */
  isBlocked: boolean;
}

interface Pin {
  readonly consumer: Consumer;
  inFlight: number;
}

const BUCKETS = 1_024;

/** The subscribers of a group, and who of them gets the next message. */
export class Consumers {
  readonly #strategy: Strategy;
  #order: Consumer[] = [];
  /** Bucket of streams -> who has it. Empty unless the strategy pins. */
  readonly #pins = new Map<number, Pin>();

  constructor(strategy: Strategy) {
    this.#strategy = strategy;
  }

  get count(): number {
    return this.#order.length;
  }

  /** True if some subscriber takes another message. */
  get isAnyFree(): boolean {
    return this.#order.some(isFree);
  }

  add(id: string, capacity: number): void {
    this.#order.push({ id, capacity, inFlight: 0, isBlocked: false });
    this.#unpinIdle();
  }

  remove(id: string): void {
    this.#order = this.#order.filter((consumer) => consumer.id !== id);
    for (const [bucket, { consumer }] of this.#pins) if (consumer.id === id) this.#pins.delete(bucket);
  }

  block(id: string, isBlocked: boolean): void {
    const consumer = this.#find(id);
    if (consumer) consumer.isBlocked = isBlocked;
  }

  /** In flight and free to take, of one subscriber. */
  loadOf(id: string): { readonly inFlight: number; readonly free: number } {
    const { inFlight, capacity } = this.#find(id) ?? { inFlight: 0, capacity: 0 };
    return { inFlight, free: Math.max(0, capacity - inFlight) };
  }

  /** The subscriber that gets this message; null while the one it belongs to, or every one, is busy. */
  take(message: Routed): string | null {
    const pin = this.#pinFor(message);
    const consumer = pin ? pin.consumer : this.#next();
    if (!consumer || !isFree(consumer)) return null;
    consumer.inFlight++;
    if (pin) pin.inFlight++;
    return consumer.id;
  }

  /** The subscriber is done with this message, one way or the other. */
  release(id: string, message: Routed): void {
    const consumer = this.#find(id);
    if (consumer) consumer.inFlight--;
    const pin = this.#pins.get(bucketOf(this.#keyOf(message)));
    if (pin?.consumer.id === id) pin.inFlight--;
  }

  /** The first that is free. Taking turns it goes to the end; else those before it do, and it is next again. */
  #next(): Consumer | undefined {
    const index = this.#order.findIndex(isFree);
    if (index < 0) return undefined;
    const consumer = this.#order[index]!;
    const cut = this.#strategy === 'RoundRobin' ? index + 1 : index;
    this.#order = [...this.#order.slice(cut), ...this.#order.slice(0, cut)];
    return consumer;
  }

  #pinFor(message: Routed): Pin | undefined {
    if (this.#strategy !== 'Pinned' && this.#strategy !== 'PinnedByCorrelation') return undefined;
    const bucket = bucketOf(this.#keyOf(message));
    const pinned = this.#pins.get(bucket);
    if (pinned) return pinned;
    const consumer = this.#leastPinned();
    if (!consumer) return undefined;
    const pin = { consumer, inFlight: 0 };
    this.#pins.set(bucket, pin);
    return pin;
  }

  #keyOf({ stream, correlationId }: Routed): string {
    return this.#strategy === 'PinnedByCorrelation' ? (correlationId ?? stream) : stream;
  }

  #leastPinned(): Consumer | undefined {
    const counts = new Map(this.#order.map((consumer) => [consumer, 0]));
    for (const { consumer } of this.#pins.values()) counts.set(consumer, (counts.get(consumer) ?? 0) + 1);
    return this.#order.reduce<Consumer | undefined>(
      (least, one) => (least && counts.get(least)! <= counts.get(one)! ? least : one),
      undefined,
    );
  }

  /** Buckets nobody works on are shared out anew; the others stay, so that no stream has two workers. */
  #unpinIdle(): void {
    for (const [bucket, { inFlight }] of this.#pins) if (inFlight === 0) this.#pins.delete(bucket);
  }

  #find(id: string): Consumer | undefined {
    return this.#order.find((consumer) => consumer.id === id);
  }
}

const isFree = ({ inFlight, capacity, isBlocked }: Consumer): boolean => inFlight < capacity && !isBlocked;

/** FNV-1a of the key's characters. */
const bucketOf = (key: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193) >>> 0;
  return hash % BUCKETS;
};
