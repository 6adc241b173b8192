import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Delivered } from './signatures.ts';
import { until } from './until.ts';

/** One delivery attempt that reached the receiver. */
export interface Attempt extends Delivered {
  readonly path: string;
  /** `performance.now()` at the end of the request. */
  readonly atMs: number;
}

/** A status, a status with headers, or `hang` for no answer. */
type Reply = number | { readonly status: number; readonly headers?: Record<string, string> } | 'hang';

export interface Receiver {
  /** The URL of an endpoint. Any path is an endpoint. */
  readonly urlOf: (path: string) => string;
  /** All attempts on an endpoint, in order of arrival. */
  readonly attemptsOn: (path: string) => Attempt[];
  /** Waits for at least `count` attempts on an endpoint. */
  readonly attempts: (path: string, count: number) => Promise<Attempt[]>;
  /** Sets how attempts on an endpoint are answered. The default is 204. */
  readonly answer: (path: string, reply: (attempt: Attempt, index: number) => Reply) => void;
  readonly close: () => Promise<void>;
}

/** Starts a merchant's HTTP server on loopback that records each request. */
export const startReceiver = async (): Promise<Receiver> => {
  const received: Attempt[] = [];
  const replies = new Map<string, (attempt: Attempt, index: number) => Reply>();
  const attemptsOn = (path: string) => received.filter((attempt) => attempt.path === path);

  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    const attempt = { path, headers: headersOf(request), rawBody: await textOf(request), atMs: performance.now() };
    received.push(attempt);
    const reply = replies.get(path)?.(attempt, attemptsOn(path).length - 1) ?? 204;
    if (reply === 'hang') return;
    const { status, headers = {} } = typeof reply === 'number' ? { status: reply } : reply;
    response.writeHead(status, headers).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;

  return {
    urlOf: (path) => `http://127.0.0.1:${port}${path}`,
    attemptsOn,
    attempts: (path, count) =>
      until(
        `${count} attempts on ${path}`,
        () => {
          const attempts = attemptsOn(path);
          return attempts.length >= count && attempts;
        },
        { withinMs: 30_000 },
      ),
    answer: (path, reply) => void replies.set(path, reply),
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
};

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};
