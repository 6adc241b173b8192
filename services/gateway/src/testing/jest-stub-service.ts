import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StubCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: never;
}

export interface StubAnswer {
  readonly status: number;
  readonly body?: unknown;
}

/** Another service, as this one sees it: HTTP on 127.0.0.1. `answer` may be set anew by each test. */
export interface StubService {
  readonly url: string;
  readonly calls: StubCall[];
  answer: (call: StubCall) => StubAnswer | Promise<StubAnswer>;
  readonly close: () => Promise<void>;
}

export const startStub = async (answer: StubService['answer']): Promise<StubService> => {
  const calls: StubCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString();
      const body = (text === '' ? undefined : JSON.parse(text)) as never;
      const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      const { status, body: answered } = await stub.answer(call);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(answered === undefined ? undefined : JSON.stringify(answered));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const stub: StubService = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    answer,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return stub;
};

/** An error answer as the services give it. */
export const refusal = (status: number, code: string, message = code): StubAnswer => ({
  status,
  body: { error: 'Refused', message, statusCode: status, code, request_id: 'req_stub' },
});
