import type { Socket } from 'node:net';
import type { Api, ResponseBody, Broker, ApiRequest } from './broker.ts';
import { unsupportedApiVersions } from './protocol/api-versions.ts';
import { findApi } from './protocol/apis.ts';
import { MalformedRequest, RequestReader } from './protocol/request-reader.ts';
import { ResponseWriter } from './protocol/response-writer.ts';

const API_VERSIONS = 18;
/** Requests of one connection that may be under way together. */
const IN_FLIGHT = 16;

/** Serves one client until it goes. Requests are taken one after the other, as the real broker does; only appends may overlap,
 *  so that they share a commit. `answering` holds the answers under way. Answers leave in the order of the requests. Throws MalformedRequest for bytes that are no request. */
export const serveConnection = async (
  socket: Socket,
  broker: Broker,
  signal: AbortSignal,
  answering: Set<Promise<void>>,
): Promise<void> => {
  const underWay: Promise<void>[] = [];
  let answered: Promise<void> = Promise.resolve();
  for await (const bytes of frames(socket, broker.settings.maxRequestBytes)) {
    const { api, correlationId, call } = readHeader(bytes, socket, signal);
    const answer = api ? api.handle(call, broker) : unsupportedApiVersions([findApi(API_VERSIONS)!]);
    const before = answered;
    answered = Promise.all([answer, before]).then(([write]) => send(socket, api, correlationId, call, write));
    track(answered, answering, socket);
    underWay.push(answered);
    if (!api?.pipelined || underWay.length >= IN_FLIGHT) await Promise.all(underWay.splice(0));
  }
  await answered;
};

/** Keeps `answer` among those under way; one that fails takes the connection with it. */
const track = (answer: Promise<void>, answering: Set<Promise<void>>, socket: Socket): void => {
  answering.add(answer);
  answer.catch((error: Error) => socket.destroy(error)).finally(() => answering.delete(answer));
};

const readHeader = (bytes: Buffer, socket: Socket, signal: AbortSignal) => {
  const reader = new RequestReader(bytes);
  const key = reader.int16();
  const version = reader.int16();
  const correlationId = reader.int32();
  const clientId = reader.nullableString() ?? '';
  const api = findApi(key);
  const spoken = api && version >= api.min && version <= api.max;
  if (!spoken && key !== API_VERSIONS) throw new MalformedRequest(`API ${key} version ${version} is not spoken here`);
  if (spoken && version >= (api.flexibleFrom ?? Infinity)) {
    reader.flexible = true;
    reader.skipTaggedFields();
  }
  const clientHost = `/${socket.remoteAddress ?? ''}`;
  const call: ApiRequest = { version, reader, clientId, clientHost, signal };
  return { api: spoken ? api : undefined, correlationId, call };
};

/** Sends one answer and waits until the client has room for more. */
const send = async (
  socket: Socket,
  api: Api | undefined,
  correlationId: number,
  { reader }: ApiRequest,
  write: ResponseBody,
) => {
  if (!write || socket.destroyed) return;
  const response = new ResponseWriter();
  response.int32(correlationId);
  if (reader.flexible) {
    response.flexible = true;
    // ApiVersions answers with the old header, so that a client can read it before it knows what the broker speaks (KIP-511).
    if (api?.key !== API_VERSIONS) response.taggedFields();
  }
  write(response);
  const parts = response.toBuffers();
  const size = Buffer.allocUnsafe(4);
  size.writeInt32BE(parts.reduce((sum, part) => sum + part.length, 0));
  socket.cork();
  socket.write(size);
  for (const part of parts) socket.write(part);
  socket.uncork();
  if (socket.writableNeedDrain) await drained(socket);
};

const drained = (socket: Socket): Promise<void> =>
  new Promise((done) => {
    const end = () => {
      socket.off('drain', end).off('close', end);
      done();
    };
    socket.on('drain', end).on('close', end);
  });

/** The requests on a connection, each behind its length. Memory is taken as bytes arrive, not as they are announced. */
async function* frames(socket: Socket, maxBytes: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let available = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    available += chunk.length;
    while (available >= 4) {
      if (chunks[0]!.length < 4) chunks = [Buffer.concat(chunks)];
      const length = chunks[0]!.readInt32BE(0);
      if (length < 0 || length > maxBytes)
        throw new MalformedRequest(`a request of ${length} bytes, ${maxBytes} allowed`);
      if (available < 4 + length) break;
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      yield all.subarray(4, 4 + length);
      available -= 4 + length;
      chunks = available > 0 ? [all.subarray(4 + length)] : [];
    }
  }
}
