import { get } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpAddress } from './environment.ts';
import type { PortPlan } from './ports.ts';

/** Resolves with null when a process is ready, or with what it lacks. */
export type ReadinessCheck = () => Promise<string | null>;

const POLL_MS = 50;
const ANSWER_WITHIN_MS = 2_500;

const ENGINES = ['eventstore', 'kafka', 'postgres'];

/** How to tell that each process is ready: services say so themselves, an engine listens once its storage is open. */
export const readinessOf = (ports: readonly PortPlan[]): Record<string, ReadinessCheck> =>
  Object.fromEntries(
    ports.map(({ process, host, port }) => [
      process,
      ENGINES.includes(process) ? acceptsConnections(host, port) : answersReady(httpAddress(ports, process)),
    ]),
  );

/** Waits until every check has come true once. Resolves with what is still not ready after `withinMs`, by name and reason:
 *  nothing when all are. Ends early when `givenUp` says so. */
export const waitReady = async (
  checks: Readonly<Record<string, ReadinessCheck>>,
  { withinMs, givenUp }: { withinMs: number; givenUp: () => boolean },
): Promise<string[]> => {
  const end = Date.now() + withinMs;
  const faults = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      for (;;) {
        const fault = await check();
        if (fault === null) return [];
        if (givenUp() || Date.now() > end) return [`${name} ${fault}`];
        await sleep(POLL_MS);
      }
    }),
  );
  return faults.flat();
};

/** Asks `GET /health/ready`. Not by `fetch`, which refuses ports that browsers keep from (6000 among them) whoever listens there. */
const answersReady =
  (baseUrl: string): ReadinessCheck =>
  () =>
    new Promise((done) => {
      const asking = get(`${baseUrl}/health/ready`, { timeout: ANSWER_WITHIN_MS, agent: false }, async (response) => {
        if (response.statusCode === 200) {
          response.resume();
          return done(null);
        }
        const { missing } = await json(response).then(
          (body) => body as { missing?: string[] },
          () => ({ missing: undefined }),
        );
        done(missing?.length ? `misses ${missing.join(', ')}` : `answers ${response.statusCode}`);
      });
      asking.once('timeout', () => asking.destroy());
      asking.once('error', () => done('does not answer'));
    });

const acceptsConnections =
  (host: string, port: number): ReadinessCheck =>
  () =>
    new Promise((done) => {
      const socket = connect({ host, port, timeout: ANSWER_WITHIN_MS });
      const end = (fault: string | null) => {
        socket.destroy();
        done(fault);
      };
      socket.once('connect', () => end(null));
      socket.once('timeout', () => end('does not answer'));
      socket.once('error', () => end('does not answer'));
    });
