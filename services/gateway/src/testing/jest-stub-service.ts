import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

export interface StubCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: never;
}

export interface StubResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** An HTTP server that stands in for another service. Tests can replace `respond`. */
export interface StubService {
  readonly url: string;
  readonly calls: StubCall[];
  respond: (call: StubCall) => StubResponse | Promise<StubResponse>;
  readonly close: () => Promise<void>;
}

export const startStub = async (respond: StubService['respond']): Promise<StubService> => {
  const calls: StubCall[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await textOf(request);
    const body = (text === '' ? undefined : JSON.parse(text)) as never;
    const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
    calls.push(call);
    const { status, body: responseBody, headers } = await stub.respond(call);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(responseBody === undefined ? undefined : JSON.stringify(responseBody));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const stub: StubService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    respond,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return stub;
};

/** An error response in the format of the services. */
export const errorResponse = (status: number, code: string, message = code): StubResponse => ({
  status,
  body: { error: 'Refused', message, statusCode: status, code, request_id: 'req_stub' },
});
