import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** What the launcher listens on without an offset. */
export const STANDARD_PORTS = [2113, 4000, 4001, 4002, 4003, 4004, 4005, 5433, 9092];
// Above what people run by hand, below the range that the system hands out to clients (from 32768).
const OFFSETS = { from: 10_000, to: 23_000 };

/** A PORT_OFFSET with which every port of a stack is free now, and each one so many above it too. */
export const freePortOffset = async (via = 0): Promise<number> => {
  for (;;) {
    const offset = randomInt(OFFSETS.from, OFFSETS.to);
    const ports = new Set(STANDARD_PORTS.flatMap((port) => [port + offset, port + offset + via]));
    const free = await Promise.all([...ports].map(isFree));
    if (free.every(Boolean)) return offset;
  }
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const server = createServer().once('error', () => done(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => done(true)));
  });
