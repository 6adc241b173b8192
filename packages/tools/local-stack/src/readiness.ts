import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpAddress } from './environment.ts';
import type { PortPlan } from './ports.ts';

/** Resolves to null when a process is ready, else to the reason why it is not. */
export type ReadinessCheck = () => Promise<string | null>;

const POLL_MS = 50;
const RESPONSE_TIMEOUT_MS = 2_500;

const ENGINES = ['eventstore', 'kafka', 'postgres', 'chain'];

/** Readiness checks by process: `/health/ready` of a service, a TCP connection to an engine. Engines listen once their
 *  storage is open. */
export const readinessChecks = (ports: readonly PortPlan[]): Record<string, ReadinessCheck> =>
  Object.fromEntries(
    ports.map(({ process, host, port }) => [
      process,
      ENGINES.includes(process) ? acceptsConnections(host, port) : answersReady(httpAddress(ports, process)),
    ]),
  );

/** Waits until every check has succeeded once. Resolves to the processes that are not ready, with reasons: none if all
 *  succeeded. Ends after `timeoutMs`, or earlier when `shouldStop` returns true. */
export const waitUntilReady = async (
  checks: Readonly<Record<string, ReadinessCheck>>,
  { timeoutMs, shouldStop }: { timeoutMs: number; shouldStop: () => boolean },
): Promise<string[]> => {
  const end = performance.now() + timeoutMs;
  const faults = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      for (;;) {
        const fault = await check();
        if (fault === null) return [];
        if (shouldStop() || performance.now() > end) return [`${name} ${fault}`];
        await sleep(POLL_MS);
      }
    }),
  );
  return faults.flat();
};

/** Checks a service by `GET /health/ready`. `fetch` cannot be used, because it blocks some ports, for example 6000. */
export const answersReady =
  (baseUrl: string, timeout = RESPONSE_TIMEOUT_MS): ReadinessCheck =>
  () =>
    new Promise((done) => {
      const url = `${baseUrl}/health/ready`;
      const request = get(url, { timeout, agent: false }, (response) => done(faultOf(response)));
      request.once('timeout', () => request.destroy());
      request.once('error', () => done('does not respond'));
    });

/** Null if the service is ready. */
const faultOf = async (response: IncomingMessage): Promise<string | null> => {
  if (response.statusCode === 200) {
    response.resume();
    return null;
  }
  const { missing } = await json(response).then(
    (body) => body as { missing?: string[] },
    () => ({ missing: undefined }),
  );
  return missing?.length ? `is waiting for ${missing.join(', ')}` : `responds with status ${response.statusCode}`;
};

const acceptsConnections =
  (host: string, port: number): ReadinessCheck =>
  () =>
    new Promise((done) => {
      const socket = connect({ host, port, timeout: RESPONSE_TIMEOUT_MS });
      const end = (fault: string | null) => {
        socket.destroy();
        done(fault);
      };
      socket.once('connect', () => end(null));
      socket.once('timeout', () => end('does not respond'));
      socket.once('error', () => end('does not respond'));
    });
