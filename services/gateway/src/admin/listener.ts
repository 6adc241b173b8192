import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent } from 'undici';

/** One delivery that was passed on. */
export interface Forwarded {
  readonly event: string;
  readonly eventId: string;
  readonly status: number;
  readonly durationMs: number;
  /** Why it could not be passed on: the status is 502 then. */
  readonly error?: string;
}

export interface Listener {
  /** Where deliveries are to be sent. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

const FORWARD_WITHIN_MS = 20_000;
const NOT_REACHED = 502;
// They are of one connection, and the next one has its own.
const OF_THE_CONNECTION = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'upgrade',
]);

/** Listens on loopback and passes each delivery on, its headers and bytes as they came; answers what the target answered, so it is tried
 *  again as it would be from afar. */
export const startListener = async (target: URL, onForwarded: (forwarded: Forwarded) => void): Promise<Listener> => {
  const agent = new Agent({ headersTimeout: FORWARD_WITHIN_MS, bodyTimeout: FORWARD_WITHIN_MS });

  const forward = async (request: IncomingMessage, body: Buffer, response: ServerResponse) => {
    const began = performance.now();
    const about = { event: eventIn(body), eventId: String(request.headers['x-idempotency-key'] ?? '') };
    const report = (status: number, error?: string) =>
      onForwarded({ ...about, status, durationMs: Math.round(performance.now() - began), ...(error && { error }) });
    try {
      const answer = await agent.request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'POST',
        headers: passedOn(request.headers),
        body,
      });
      const text = Buffer.from(await answer.body.arrayBuffer());
      response.writeHead(answer.statusCode, passedOn(answer.headers)).end(text);
      report(answer.statusCode);
    } catch (error) {
      response.writeHead(NOT_REACHED).end();
      report(NOT_REACHED, (error as { code?: string }).code ?? (error as Error).message);
    }
  };
  const server = createServer((request, response) => {
    // A sender that breaks off is nobody to answer to.
    buffer(request).then(
      (body) => forward(request, body, response),
      () => response.destroy(),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await agent.destroy();
    },
  };
};

type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

const passedOn = (headers: HeaderValues): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || OF_THE_CONNECTION.has(name) ? [] : [[name, value]],
    ),
  );

const eventIn = (body: Buffer): string => {
  try {
    return String((JSON.parse(body.toString()) as { event?: unknown }).event);
  } catch {
    return 'unknown';
  }
};
