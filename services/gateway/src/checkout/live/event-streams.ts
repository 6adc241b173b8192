import type { ServerResponse } from 'node:http';

export interface EventStreams {
  /** Takes a place of an address, until its `free` is called. */
  readonly reserve: (address: string) => Place | Refusal;
  /** Begins the stream on a place. The place is free again when the response closes. */
  readonly open: (place: Place, response: ServerResponse) => void;
  readonly count: () => number;
  /** Ends all streams and refuses further ones. */
  readonly end: () => void;
}

export interface Place {
  readonly free: () => void;
}

export type Refusal = 'too_many_of_address' | 'too_many';

export interface EventStreamsOptions {
  readonly max: number;
  readonly maxPerAddress: number;
  readonly now: () => Date;
  readonly random?: () => number;
  readonly heartbeatMs?: number;
}

const HEARTBEAT_MS = 20_000;
/** Heartbeats are written in so many parts, to spread the work. */
const PARTS = 20;
/** Spreads the reconnects of clients after the gateway has stopped. */
const RETRY_MS = { from: 2_000, to: 8_000 };

/** Bounded streams with heartbeats; a client that reads none is disconnected. */
export const createEventStreams = ({
  max,
  maxPerAddress,
  now,
  random = Math.random,
  heartbeatMs = HEARTBEAT_MS,
}: EventStreamsOptions): EventStreams => {
  const perAddress = new Map<string, number>();
  const parts = Array.from({ length: PARTS }, () => new Set<ServerResponse>());
  let reserved = 0;
  let opened = 0;
  let part = 0;
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;

  const beat = (): void => {
    part = (part + 1) % PARTS;
    const heartbeat = eventText('time', String(now().getTime()));
    for (const response of parts[part]!) {
      if (response.writableLength > 0) response.destroy();
      else send(response, heartbeat);
    }
  };
  const add = (address: string, count: 1 | -1): void => {
    reserved += count;
    const left = (perAddress.get(address) ?? 0) + count;
    if (left > 0) perAddress.set(address, left);
    else perAddress.delete(address);
  };

  return {
    reserve: (address) => {
      if (reserved >= max || hasEnded) return 'too_many';
      if ((perAddress.get(address) ?? 0) >= maxPerAddress) return 'too_many_of_address';
      add(address, 1);
      let isFree = false;
      return {
        free: () => {
          if (!isFree) add(address, -1);
          isFree = true;
        },
      };
    },
    open: (place, response) => {
      const streams = parts[opened++ % PARTS]!;
      streams.add(response);
      timer ??= setInterval(beat, heartbeatMs / PARTS).unref();
      response.once('close', () => {
        streams.delete(response);
        place.free();
        if (reserved > 0) return;
        clearInterval(timer);
        timer = undefined;
      });
      const retryMs = Math.round(RETRY_MS.from + random() * (RETRY_MS.to - RETRY_MS.from));
      response.write(`retry: ${retryMs}\n${eventText('time', String(now().getTime()))}`);
      if (hasEnded) response.end();
    },
    count: () => reserved,
    end: () => {
      hasEnded = true;
      clearInterval(timer);
      for (const streams of parts) for (const response of streams) response.end();
    },
  };
};

/** Sends text, unless the stream has ended. */
export const send = (response: ServerResponse, text: string): void => {
  if (!response.writableEnded) response.write(text);
};

/** One server-sent event. `data` has no line break. */
export const eventText = (event: string, data: string): string => `event: ${event}\ndata: ${data}\n\n`;
