import { randomInt } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';

/** The ports of a stack without an offset. */
export const STANDARD_PORTS = {
  gateway: 4000,
  orders: 4001,
  payments: 4002,
  'webhook-dispatcher-1': 4003,
  'webhook-dispatcher-2': 4004,
  'webhook-dispatcher-3': 4005,
  eventstore: 2113,
  kafka: 9092,
  postgres: 5433,
};
// Above the usual ports, below the ephemeral range of Linux (from 32768).
const OFFSETS = { from: 10_000, to: 23_000 };

/** Finds a PORT_OFFSET at which every port of a stack is free, and also every port plus `via`. */
export const freePortOffset = async (via = 0): Promise<number> => {
  for (;;) {
    const offset = randomInt(OFFSETS.from, OFFSETS.to);
    const ports = new Set(Object.values(STANDARD_PORTS).flatMap((port) => [port + offset, port + offset + via]));
    const free = await Promise.all([...ports].map(isFree));
    if (free.every(Boolean)) return offset;
  }
};

/** A port that no program listens on now. */
export const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const server = createServer().once('error', fail);
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const server = createServer().once('error', () => done(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => done(true)));
  });
