import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, ApiRequest, Broker, ResponseBody } from './protocol/api.ts';
import { PartialRequests, readFrames, writeFrame } from './frames.ts';
import { MalformedRequest, RequestReader } from './protocol/request-reader.ts';
import { findApi, unsupportedApiVersions } from './protocol/apis.ts';
import { ResponseWriter } from './protocol/response-writer.ts';

/** How long `close` waits for the responses in progress. */
const CLOSE_GRACE_MS = 1_000;
/** A client that keeps sending invalid requests must not fill the log. */
const MAX_LINES_PER_MINUTE = 10;

export interface Listener {
  readonly port: number;
  /** Starts to serve requests. Connections that were accepted before wait until then. */
  readonly startServing: (broker: Broker) => void;
  /** Finishes the responses in progress and closes all connections. Resolves when the port is free. */
  readonly close: () => Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly maxPartialRequestBytes: number;
  readonly log: (line: string) => void;
}

/** Listens on the port. Throws the error of `net.Server.listen` if it is taken. */
export const listen = async ({ host, port, maxPartialRequestBytes, log }: ListenOptions): Promise<Listener> => {
  const logClosed = limitedLog(log, MAX_LINES_PER_MINUTE);
  const partialRequests = new PartialRequests(maxPartialRequestBytes, tooManyPartialRequests);
  const connections = new Map<Socket, AbortController>();
  const pendingResponses = new Set<Promise<void>>();
  let startServing = (_: Broker) => {};
  const broker = new Promise<Broker>((done) => {
    startServing = done;
  });
  const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
    const closed = new AbortController();
    const client = `${socket.remoteAddress}:${socket.remotePort}`;
    connections.set(socket, closed);
    socket.on('error', () => {}); // the event "close" follows
    socket.on('close', () => {
      connections.delete(socket);
      closed.abort();
    });
    broker
      .then((ready) => serveConnection(socket, ready, { signal: closed.signal, pendingResponses, partialRequests }))
      .then(
        () => socket.end(),
        (error: Error) => {
          if (!isDisconnect(error)) logClosed(`closed the connection of ${client}: ${reasonOf(error)}`);
          socket.destroy();
        },
      );
  });
  await startListening(server, host, port);
  return {
    port: (server.address() as { port: number }).port,
    startServing,
    close: async () => {
      const serverClosed = new Promise<void>((done) => server.close(() => done()));
      for (const closed of connections.values()) closed.abort();
      await Promise.race([Promise.allSettled(pendingResponses), sleep(CLOSE_GRACE_MS, undefined, { ref: false })]);
      for (const socket of connections.keys()) socket.destroy();
      await serverClosed;
    },
  };
};

const startListening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      server.on('error', () => {}); // a single connection was not accepted
      done();
    });
  });

/** The client disconnected, or the server closed the connection. Neither is worth a log line. */
const isDisconnect = (error: NodeJS.ErrnoException): boolean =>
  ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '');

const tooManyPartialRequests = (maxBytes: number) =>
  new MalformedRequest(`the requests that arrived in part take more than ${maxBytes} bytes of memory together`);

const reasonOf = (error: Error): string =>
  error instanceof MalformedRequest ? error.message : `${error.name}: ${error.message}`;

/** Passes at most `maxLines` lines a minute to `log`, and one more at its end with the number of the others. */
export const limitedLog = (log: (line: string) => void, maxLines: number): ((line: string) => void) => {
  let lines = 0;
  const endMinute = () => {
    if (lines > maxLines) log(`${lines - maxLines} more lines like these were left out in the last minute`);
    lines = 0;
  };
  return (line) => {
    if (lines === 0) setTimeout(endMinute, 60_000).unref();
    lines += 1;
    if (lines <= maxLines) log(line);
  };
};

const API_VERSIONS = 18;
const MAX_PIPELINED_REQUESTS = 16;

interface ConnectionContext {
  /** Aborted when the connection closes or the broker stops. */
  readonly signal: AbortSignal;
  /** Of all connections. */
  readonly pendingResponses: Set<Promise<void>>;
  readonly partialRequests: PartialRequests;
}

/** Serves one client until it disconnects. Handles one request after another, as Apache Kafka does. Only produce
 *  requests overlap, so that they share commits. Responses are sent in the order of the requests, and are in
 *  `pendingResponses` until then. Throws MalformedRequest for invalid bytes and for unsupported APIs. */
const serveConnection = async (
  socket: Socket,
  broker: Broker,
  { signal, pendingResponses, partialRequests }: ConnectionContext,
): Promise<void> => {
  const inFlight: Promise<void>[] = [];
  let lastSent: Promise<void> = Promise.resolve();
  for await (const bytes of readFrames(socket, broker.settings.maxRequestBytes, partialRequests)) {
    const { api, correlationId, request } = readHeader(bytes, socket, signal);
    const body = api ? api.handle(request, broker) : unsupportedApiVersions([findApi(API_VERSIONS)!]);
    const earlier = lastSent;
    lastSent = Promise.all([body, earlier]).then(([write]) => send(socket, api, correlationId, request, write));
    track(lastSent, pendingResponses, socket);
    inFlight.push(lastSent);
    if (!api?.pipelined || inFlight.length >= MAX_PIPELINED_REQUESTS) await Promise.all(inFlight.splice(0));
  }
  await lastSent;
};

/** Keeps `response` in `pendingResponses` until it is sent. If it fails, closes the connection. */
const track = (response: Promise<void>, pendingResponses: Set<Promise<void>>, socket: Socket): void => {
  pendingResponses.add(response);
  response.catch((error: Error) => socket.destroy(error)).finally(() => pendingResponses.delete(response));
};

/** Parses the header of a request. Only for an unsupported version of ApiVersions, `api` is undefined. */
const readHeader = (bytes: Buffer, socket: Socket, signal: AbortSignal) => {
  const reader = new RequestReader(bytes);
  const key = reader.int16();
  const version = reader.int16();
  const correlationId = reader.int32();
  const clientId = reader.nullableString() ?? '';
  const api = findApi(key);
  const supported = api && version >= api.min && version <= api.max;
  if (!supported && key !== API_VERSIONS) throw new MalformedRequest(`API ${key} version ${version} is not supported`);
  if (supported && version >= (api.flexibleFrom ?? Infinity)) {
    reader.flexible = true;
    reader.skipTaggedFields();
  }
  const clientHost = `/${socket.remoteAddress ?? ''}`;
  const request: ApiRequest = { version, reader, clientId, clientHost, signal };
  return { api: supported ? api : undefined, correlationId, request };
};

const send = async (
  socket: Socket,
  api: Api | undefined,
  correlationId: number,
  { reader }: ApiRequest,
  write: ResponseBody,
): Promise<void> => {
  if (!write || socket.destroyed) return;
  const response = new ResponseWriter();
  response.int32(correlationId);
  if (reader.flexible) {
    response.flexible = true;
    // The header of ApiVersions is never flexible, so that clients can read it before they know the versions (KIP-511).
    if (api?.key !== API_VERSIONS) response.taggedFields();
  }
  write(response);
  await writeFrame(socket, response.toBuffers());
};
