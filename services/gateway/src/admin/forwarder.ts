import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent } from 'undici';

/** The result of forwarding one delivery. */
export interface ForwardedDelivery {
  readonly event: string;
  readonly eventId: string;
  readonly status: number;
  readonly durationMs: number;
  /** Why the target was not reached. The status is then 502. */
  readonly error?: string;
}

export interface Forwarder {
  /** The URL that accepts deliveries. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

const FORWARD_TIMEOUT_MS = 20_000;
const BAD_GATEWAY = 502;
// Headers that apply to one connection only and must not be forwarded.
const HOP_BY_HOP = new Set(['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'upgrade']);

/** Listens on loopback and forwards each delivery unchanged. Returns the target's response to the sender, so that
 *  failed deliveries are retried as usual. */
export const startForwarder = async (
  target: URL,
  onForwarded: (forwarded: ForwardedDelivery) => void,
): Promise<Forwarder> => {
  const agent = new Agent({ headersTimeout: FORWARD_TIMEOUT_MS, bodyTimeout: FORWARD_TIMEOUT_MS });

  const forward = async (request: IncomingMessage, body: Buffer, response: ServerResponse) => {
    const startedAt = performance.now();
    const delivery = { event: eventType(body), eventId: String(request.headers['x-idempotency-key'] ?? '') };
    const report = (status: number, error?: string) =>
      onForwarded({
        ...delivery,
        status,
        durationMs: Math.round(performance.now() - startedAt),
        ...(error && { error }),
      });
    try {
      const targetResponse = await agent.request({
        origin: target.origin,
        path: target.pathname + target.search,
        method: 'POST',
        headers: forwardedHeaders(request.headers),
        body,
      });
      const content = Buffer.from(await targetResponse.body.arrayBuffer());
      response.writeHead(targetResponse.statusCode, forwardedHeaders(targetResponse.headers)).end(content);
      report(targetResponse.statusCode);
    } catch (error) {
      response.writeHead(BAD_GATEWAY).end();
      report(BAD_GATEWAY, (error as { code?: string }).code ?? (error as Error).message);
    }
  };
  const server = createServer((request, response) => {
    // The sender has disconnected.
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

const forwardedHeaders = (headers: HeaderValues): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, value]],
    ),
  );

const eventType = (body: Buffer): string => {
  try {
    return String((JSON.parse(body.toString()) as { event?: unknown }).event);
  } catch {
    return 'unknown';
  }
};
