import { randomUUID } from 'node:crypto';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { Instance, Instances } from './instances.ts';

/** How long a request waits while every instance refuses connections: longer than a restart takes. */
const REFUSED_FOR_MS = 5_000;
const RETRY_EVERY_MS = 100;

/** Passes a request on to an instance, and its response back, as streams. Only a request of which nothing was sent is
 *  tried on another instance. A connection that breaks later breaks for the client too: only the client knows whether
 *  the request may run twice. */
export const forward = (instances: Instances, incoming: IncomingMessage, response: ServerResponse): void => {
  const giveUpAt = performance.now() + REFUSED_FOR_MS;
  const tried = new Set<Instance>();
  const attempt = (): void => {
    if (response.destroyed) return;
    const instance = instances.next(tried);
    if (instance) {
      tried.add(instance);
      return send(instance, incoming, response, (error) => {
        instances.takeOut(instance, `refuses connections (${error.code ?? error.message})`);
        attempt();
      });
    }
    if (performance.now() > giveUpAt) return refuse(response);
    tried.clear();
    setTimeout(attempt, RETRY_EVERY_MS);
  };
  attempt();
};

/** Sends a request to one instance. Calls `onNotSent` when the instance accepts no connection. */
const send = (
  { agent, host, port }: Instance,
  incoming: IncomingMessage,
  response: ServerResponse,
  onNotSent: (error: NodeJS.ErrnoException) => void,
): void => {
  const { method, url: path } = incoming;
  const outgoing = request({ agent, host, port, method, path, headers: requestHeaders(incoming), setHost: false });
  let isSent = false;
  const sendNow = () => {
    isSent = true;
    incoming.pipe(outgoing);
  };
  outgoing.once('socket', (socket: Socket) => {
    if (socket.connecting) socket.once('connect', sendNow);
    else sendNow();
  });
  outgoing.once('response', (answer) => {
    response.writeHead(answer.statusCode!, answer.statusMessage, endToEnd(answer.rawHeaders));
    pipeline(answer, response, () => {});
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (isSent) response.destroy();
    else onNotSent(error);
  });
  response.once('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
};

/** The headers of the client, with its address added to X-Forwarded-For. */
const requestHeaders = ({ rawHeaders, headers, socket }: IncomingMessage): string[] => {
  const known = headers['x-forwarded-for'];
  const addresses = [...(known === undefined ? [] : [known].flat()), socket.remoteAddress ?? ''].join(', ');
  return [...endToEnd(rawHeaders, ['x-forwarded-for', 'expect']), 'X-Forwarded-For', addresses];
};

// These belong to one connection (RFC 9110, 7.6.1).
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade', 'trailer'];

/** The headers that pass a proxy, as names and values in turn. */
const endToEnd = (rawHeaders: readonly string[], without: readonly string[] = []): string[] => {
  const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]!] as const] : []));
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','));
  const dropped = new Set([...HOP_BY_HOP, ...without, ...named.map((name) => name.trim().toLowerCase())]);
  return pairs.filter(([name]) => !dropped.has(name.toLowerCase())).flat();
};

/** Refuses a request that no instance has received, in the form of the API's errors. */
const refuse = (response: ServerResponse): void => {
  const message = 'no instance accepts connections: retry the request';
  const body = { error: 'Service Unavailable', message, statusCode: 503, code: 'dependency_unavailable' };
  response.writeHead(503, { 'content-type': 'application/json; charset=utf-8', 'retry-after': '1' });
  response.end(JSON.stringify({ ...body, request_id: `req_${randomUUID()}` }));
};
