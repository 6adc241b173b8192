import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { LaunchError } from '../config.ts';
import { httpAddress } from '../environment.ts';
import type { PortPlan } from '../ports.ts';
import { answersReady } from '../readiness.ts';
import { createInstances, type Instance, type Instances, type InstancesOptions } from './instances.ts';

export interface ProxyOptions extends InstancesOptions {
  readonly host: string;
  readonly port: number;
}

/** Starts an HTTP proxy that gives requests to the instances of a service in turn. Returns a function that stops it. */
export const startProxy = async ({ host, port, ...options }: ProxyOptions): Promise<() => void> => {
  const instances = createInstances(options);
  // The instances limit the time of requests. Clients close idle connections first.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 75_000 }, (incoming, response) =>
    forward(instances, incoming, response),
  );
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  return () => {
    server.close();
    server.closeAllConnections();
    instances.stop();
  };
};

/** Shorter than a service needs at worst, so that a frozen instance is taken out soon. */
const CHECK_TIMEOUT_MS = 1_000;

/** Starts the proxy of every service that has several instances. Returns a function that stops them. */
export const startProxies = async (
  ports: readonly PortPlan[],
  warn: (sentence: string) => void,
): Promise<() => void> => {
  const stops: (() => void)[] = [];
  const stop = () => stops.forEach((each) => each());
  for (const { process: service, host, port, instances } of ports) {
    if (!instances) continue;
    const addresses = ports
      .filter(({ process }) => instances.includes(process))
      .map((plan) => ({ name: plan.process, host: plan.host, port: plan.port }));
    try {
      const check = ({ name }: { name: string }) => answersReady(httpAddress(ports, name), CHECK_TIMEOUT_MS)();
      stops.push(await startProxy({ host, port, addresses, check, warn }));
    } catch (cause) {
      stop();
      throw new LaunchError(`the proxy of ${service} cannot listen on port ${port}: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
  return stop;
};

/** How long a request waits while every instance refuses connections: longer than a restart takes. */
const REFUSED_FOR_MS = 5_000;
const RETRY_EVERY_MS = 100;

/** Passes a request on to an instance, and its response back, as streams. Only a request of which nothing was sent is
 *  tried on another instance. A connection that breaks later breaks for the client too: only the client knows whether
 *  the request may run twice. */
const forward = (instances: Instances, incoming: IncomingMessage, response: ServerResponse): void => {
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

/** The headers of the client, with its address added to X-Forwarded-For. This proxy has answered `Expect` itself. */
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
