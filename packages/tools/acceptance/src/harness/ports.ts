import { randomInt } from 'node:crypto';
import { isFree, listenOn } from '@cpg/ports';

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
  chain: 8545,
};
/** From the port of a service to the ports of its instances: a scaled service has at most two in tests. */
const INSTANCES = [0, 100, 200];
/** No two multiples of it give two processes of a stack the same port. */
const STEP = 100;
// Above the usual ports, below the ephemeral range of Linux (from 32768).
const OFFSETS = Array.from({ length: 125 }, (_, index) => 10_000 + STEP * index);
/** With an offset it is held, so that no other process of the test run takes the offset. */
const RESERVATION_PORT = 4099;

export interface ReservedPorts {
  /** Of all ports of a stack, as PORT_OFFSET. */
  readonly offset: number;
  readonly release: () => void;
}

/** Reserves an offset at which every port of a stack and of its instances is free, and also these ports plus each of
 *  `moves`. Throws if there is none. */
export const reservePorts = async (moves: readonly number[] = []): Promise<ReservedPorts> => {
  const all = [0, ...moves].flatMap((move) => INSTANCES.map((instance) => move + instance));
  const first = randomInt(OFFSETS.length);
  for (const offset of [...OFFSETS.slice(first), ...OFFSETS.slice(0, first)]) {
    const ports = new Set(Object.values(STANDARD_PORTS).flatMap((port) => all.map((more) => port + offset + more)));
    if (!(await Promise.all([...ports].map(isFree))).every(Boolean)) continue;
    const reservations = await Promise.all(all.map((more) => listenOn(RESERVATION_PORT + offset + more)));
    const release = () => {
      for (const server of reservations) server?.close();
    };
    if (!reservations.includes(null)) return { offset, release };
    release();
  }
  throw new Error('at every offset, a port that a stack needs is taken');
};
