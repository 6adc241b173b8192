import type { Logger } from '@cpg/runtime';
import type { Directory, Webhook } from '../webhooks/directory.ts';
import type { Attempt, Delivery, Result } from './delivery.ts';
import { createEndpoint, type Endpoint, type EndpointLimits, type EndpointReport } from './endpoint.ts';
import { createLanes } from './lanes.ts';
import { nextAttemptAt, type Schedule } from './schedule.ts';
import type { Sender } from './send.ts';
import { headersOf } from './sign.ts';

/** Bounds of what is kept in memory. */
export interface Capacity {
  readonly deliveries: number;
  readonly bytes: number;
  /** Attempts at once, each until its result is durable, not counting those that have become slow: they only wait. */
  readonly attempts: number;
}

export const CAPACITY: Capacity = { deliveries: 4_096, bytes: 32 * 1_024 * 1_024, attempts: 512 };

export interface DispatcherOptions {
  readonly sender: Pick<Sender, 'post' | 'abort'>;
  readonly webhooks: Pick<Directory, 'get'>;
  readonly schedule: Schedule;
  readonly limits: EndpointLimits;
  readonly capacity: Capacity;
  /** Whether what is held here is still ours to attempt. */
  readonly mayAttempt: () => boolean;
  readonly onResult: (result: Result) => void;
  /** There are deliveries that this instance will not attempt for now: `takeReturned` has them, to be given back. Said until they are taken. */
  readonly onReturned: () => void;
  readonly now: () => Date;
  readonly random: () => number;
  readonly log: Logger;
}

interface Place {
  readonly webhookId: string;
  readonly endpoint: Endpoint;
  readonly ready: Delivery[];
  held: number;
}

/** Makes the attempts of the deliveries that this instance holds: per endpoint no more at once than it stands, first attempts of a lane
 *  one after another. All of it in memory; what is held is also leased in the queue, so nothing is lost with it. */
export const createDispatcher = (options: DispatcherOptions) => {
  const { sender, webhooks, schedule, limits, capacity, mayAttempt, onResult, onReturned, now, random, log } = options;
  const places = new Map<string, Place>();
  const lanes = createLanes();
  const held = new Map<string, Delivery>();
  let bytes = 0;
  // Attempts under way that are not slow, in the order in which they started.
  const brisk = new Map<Delivery, number>();
  // Those that have ended keep their slot: were we to die, they would be made again as those under way.
  const unrecorded = new Set<Delivery>();
  const turns = new Set<Place>();
  // What is to be given back: what waits for some webhooks, with its tests or without, and what was in flight.
  const leaving = new Map<string, { withTests: boolean }>();
  const given: Delivery[] = [];
  let inFlight = 0;
  // Places that hold something.
  let busy = 0;
  let stopping = false;
  const clock = () => now().getTime();

  const placeOf = (webhookId: string): Place => {
    let place = places.get(webhookId);
    if (!place) {
      place = { webhookId, endpoint: createEndpoint(limits), ready: [], held: 0 };
      places.set(webhookId, place);
    }
    return place;
  };
  /** An endpoint that does not answer promptly leaves half of everything to those that do. */
  const partOf = ({ endpoint }: Place): number => (endpoint.isSound(clock()) ? 1 : 0.5);
  const letGo = (delivery: Delivery) => {
    if (held.get(delivery.position) !== delivery) return;
    held.delete(delivery.position);
    bytes -= delivery.event.body.length;
    const place = placeOf(delivery.webhookId);
    place.held -= 1;
    if (place.held === 0) busy -= 1;
    if (unrecorded.delete(delivery)) pass();
  };
  /** Takes out what waits and matches. What is in flight goes on. */
  const removeWaiting = (matches: (delivery: Delivery) => boolean): Delivery[] => {
    const removed = lanes.removeWaiting(matches);
    for (const place of places.values()) {
      const leaving = place.ready.filter(matches);
      if (leaving.length === 0) continue;
      place.ready.splice(0, Infinity, ...place.ready.filter((delivery) => !matches(delivery)));
      removed.push(...leaving);
      for (const delivery of leaving) {
        const next = lanes.leave(delivery);
        if (next) place.ready.push(next);
      }
    }
    return removed;
  };
  const giveBack = ({ webhookId }: Place, withTests = true) => {
    leaving.set(webhookId, { withTests: withTests || (leaving.get(webhookId)?.withTests ?? false) });
    onReturned();
  };
  const isLeaving = ({ webhookId, isTest }: Delivery): boolean => {
    const left = leaving.get(webhookId);
    return left !== undefined && (left.withTests || !isTest);
  };

  /** Connections are shared by all endpoints that have work. */
  const fairSlots = () => Math.max(1, Math.floor(capacity.attempts / Math.max(1, busy)));
  const hasSlot = (place: Place) => brisk.size + unrecorded.size < capacity.attempts * partOf(place);
  /** Returns whether it started anything. */
  const pump = (place: Place): boolean => {
    let started = false;
    while (!stopping && mayAttempt() && place.ready.length > 0 && place.endpoint.mayStart(clock(), fairSlots())) {
      if (!hasSlot(place)) {
        turns.add(place);
        break;
      }
      const webhook = webhooks.get(place.webhookId);
      const isOff = webhook?.isEnabled === false && !place.ready[0]!.isTest;
      // Off as far as is known here: whether it still is, the database says when they are claimed.
      if (webhook === undefined || isOff) {
        giveBack(place, !isOff);
        break;
      }
      start(place, webhook, place.ready.shift()!);
      started = true;
    }
    return started;
  };
  /** A slot is free: of those that may have it, who waited longest starts an attempt. */
  const pass = () => {
    for (const place of turns) {
      if (!hasSlot(place)) continue;
      turns.delete(place);
      if (pump(place)) return;
    }
  };
  const start = (place: Place, webhook: Webhook | null, delivery: Delivery) => {
    if (webhook === null || delivery.event.body.length === 0) {
      finish(place, { delivery, attempt: null, status: 'failed', nextAt: null });
      return;
    }
    const at = clock();
    place.endpoint.start(delivery, at);
    brisk.set(delivery, at);
    inFlight += 1;
    void post(webhook, delivery).then((attempt) => {
      inFlight -= 1;
      brisk.delete(delivery);
      if (attempt) {
        unrecorded.add(delivery);
        conclude(place, delivery, attempt);
      } else {
        place.endpoint.abandon(delivery);
        given.push(delivery);
        onReturned();
        pass();
      }
    });
  };
  const post = async (webhook: Webhook, delivery: Delivery): Promise<Attempt | null> => {
    const startedAt = now();
    try {
      const headers = headersOf(delivery, webhook.keys(startedAt), startedAt);
      return await sender.post({ webhookId: webhook.id, url: webhook.url, headers, body: delivery.event.body });
    } catch (error) {
      log.error({ err: error, webhookId: webhook.id }, 'a delivery could not be sent');
      return { outcome: 'blocked', startedAt, durationMs: 0, error: 'the delivery could not be signed' };
    }
  };
  const conclude = (place: Place, delivery: Delivery, attempt: Attempt) => {
    const at = now();
    if (attempt.outcome === 'delivered') {
      place.endpoint.succeed(delivery);
      return finish(place, { delivery, attempt, status: 'delivered', nextAt: null });
    }
    const leftAlone = place.endpoint.fail(delivery, at.getTime());
    const { retryAfter, statusCode } = attempt;
    const nextAt =
      statusCode === GONE ? null : nextAttemptAt(schedule, delivery.attempts + 1, { now: at, random, retryAfter });
    finish(place, { delivery, attempt, status: nextAt ? 'pending' : 'failed', nextAt });
    if (leftAlone) giveBack(place);
  };
  const finish = (place: Place, result: Result) => {
    const next = lanes.leave(result.delivery);
    if (next) place.ready.push(next);
    onResult(result);
    pump(place);
  };

  const roomOf = (webhookId: string): number => {
    if (stopping) return 0;
    const place = placeOf(webhookId);
    const part = partOf(place);
    if (bytes >= capacity.bytes * part) return 0;
    const free = Math.floor(capacity.deliveries * part) - held.size;
    return Math.max(0, Math.min(place.endpoint.share(clock()) - place.held, free));
  };

  return {
    /** How many deliveries more are welcome for a webhook: none until half of its share is used up, so they come many at a time. */
    appetite: (webhookId: string): number => {
      const room = roomOf(webhookId);
      return room * 2 >= placeOf(webhookId).endpoint.share(clock()) ? room : 0;
    },
    /** Decides for deliveries one after another, before any is accepted, whether there is room. Once a webhook was refused it stays so:
     *  a later event of a lane never finds the room that an earlier one did not. */
    admission: (): ((webhookId: string, size: number) => boolean) => {
      const taken = new Map<string, number>();
      let sizes = 0;
      let count = 0;
      return (webhookId, size) => {
        const mine = taken.get(webhookId) ?? 0;
        const room = Math.min(roomOf(webhookId) - mine, capacity.deliveries - held.size - count);
        const fits = room > 0 && bytes + sizes < capacity.bytes;
        taken.set(webhookId, fits ? mine + 1 : Infinity);
        if (fits) {
          count += 1;
          sizes += size;
        }
        return fits;
      };
    },
    roomCount: () => capacity.deliveries - held.size,
    roomBytes: () => capacity.bytes - bytes,
    /** Until when a webhook's endpoint is left alone, in Unix milliseconds; past when it is not. */
    heldUntil: (webhookId: string): number => places.get(webhookId)?.endpoint.heldUntil() ?? 0,
    /** Takes up deliveries that were just leased, in the order of their positions. */
    accept: (deliveries: readonly Delivery[]) => {
      const touched = new Set<Place>();
      // Claimed anew after a lease ran out, while the attempt made under it is still in flight.
      const again = deliveries.filter(({ position }) => held.has(position));
      if (again.length > 0) {
        given.push(...again);
        onReturned();
      }
      for (const delivery of deliveries) {
        if (again.includes(delivery)) continue;
        const place = placeOf(delivery.webhookId);
        held.set(delivery.position, delivery);
        bytes += delivery.event.body.length;
        place.held += 1;
        if (place.held === 1) busy += 1;
        if (delivery.attempts > 0 || lanes.enter(delivery)) place.ready.push(delivery);
        touched.add(place);
      }
      for (const place of touched) pump(place);
    },
    /** The queue knows what became of it, or that it is free again. */
    letGo: (deliveries: readonly Delivery[]) => {
      for (const delivery of deliveries) letGo(delivery);
    },
    /** Drops what waits of deleted orders; its rows are gone. */
    forget: (orderIds: ReadonlySet<string>) => {
      for (const delivery of removeWaiting(({ orderId }) => orderIds.has(orderId))) letGo(delivery);
    },
    /** The lease ran out: what waits may be in other hands. Attempts in flight end, and are recorded. */
    abandonAll: () => {
      for (const delivery of removeWaiting(() => true)) letGo(delivery);
    },
    /** Forgets endpoints that there is nothing to remember of, and goes on where time has passed. */
    tick: () => {
      const at = clock();
      for (const [delivery, startedAt] of brisk) {
        if (at - startedAt < limits.slowMs) break;
        brisk.delete(delivery);
      }
      const isTight = held.size > capacity.deliveries * TIGHT || bytes > capacity.bytes * TIGHT;
      for (const [webhookId, place] of places) {
        pump(place);
        // An endpoint that was quick when this was taken up for it, and is not any more, leaves the room to the others.
        const waiting = place.held - place.endpoint.inFlight();
        if (isTight && waiting > 2 * place.endpoint.share(at)) giveBack(place);
        if (place.held === 0 && place.endpoint.isStale(at)) places.delete(webhookId);
      }
      if (leaving.size > 0 || given.length > 0) onReturned();
    },
    /** Takes out what is to be given back. To be called when nothing else changes what is leased: it waits in its places until then, and what
     *  is leased meanwhile finds it before it. */
    takeReturned: (): Delivery[] => {
      const waiting = stopping || leaving.size > 0 ? removeWaiting(stopping ? () => true : isLeaving) : [];
      leaving.clear();
      return [...given.splice(0), ...waiting];
    },
    positions: () => [...held.keys()],
    webhookIds: () => [...places.values()].filter((place) => place.held > 0).map(({ webhookId }) => webhookId),
    counts: () => ({ held: held.size, inFlight }),
    /** How the endpoints stand that it remembers. */
    endpoints: (): EndpointReport[] =>
      [...places.values()].map(({ webhookId, endpoint }) => ({
        webhookId,
        state: endpoint.state(clock()),
        heldUntilMs: endpoint.heldUntil(),
      })),
    /** Takes up nothing more and gives back what waits. Attempts in flight have `withinMs` to end; then they are given up and given back. */
    stop: async (withinMs: number): Promise<void> => {
      stopping = true;
      onReturned();
      const deadline = performance.now() + withinMs;
      while (inFlight > 0 && performance.now() < deadline) await new Promise((done) => setTimeout(done, 20));
      sender.abort();
      while (inFlight > 0) await new Promise((done) => setTimeout(done, 5));
    },
  };
};

const GONE = 410;
/** Which part of the memory makes it scarce. With less, what is given back would be claimed again at once. */
const TIGHT = 7 / 8;

export type WebhookDispatcher = ReturnType<typeof createDispatcher>;
