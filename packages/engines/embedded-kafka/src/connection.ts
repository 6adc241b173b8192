import type { Socket } from 'node:net';
import type { Broker } from './broker.ts';
import { type PartialRequests, readFrames, writeFrame } from './frames.ts';
import type { Api, ApiRequest, ResponseBody } from './protocol/api.ts';
import { findApi, unsupportedApiVersions } from './protocol/apis.ts';
import { MalformedRequest, RequestReader } from './protocol/request-reader.ts';
import { ResponseWriter } from './protocol/response-writer.ts';

const API_VERSIONS = 18;
const MAX_PIPELINED_REQUESTS = 16;

export interface ConnectionContext {
  /** Aborted when the connection closes or the broker stops. */
  readonly signal: AbortSignal;
  /** Of all connections. */
  readonly pendingResponses: Set<Promise<void>>;
  readonly partialRequests: PartialRequests;
}

/** Serves one client until it disconnects. Handles one request after another, as Apache Kafka does. Only produce
 *  requests overlap, so that they share commits. Responses are sent in the order of the requests, and are in
 *  `pendingResponses` until then. Throws MalformedRequest for invalid bytes and for unsupported APIs. */
export const serveConnection = async (
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
