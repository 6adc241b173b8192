import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. */
interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export type Answer = (request: Received, response: ServerResponse, raw: IncomingMessage) => void;

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** How it answers; 200 by default. */
  answer: Answer;
  /** Resolves once `count` requests have arrived. */
  readonly arrived: (count: number) => Promise<Received[]>;
  readonly close: () => Promise<void>;
}

export const respond =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end();

/** A webhook endpoint on loopback. */
export const startReceiver = async (): Promise<Receiver> => {
  const received: Received[] = [];
  const waiting: { count: number; done: () => void }[] = [];
  const server = createServer((raw, response) => {
    const chunks: Buffer[] = [];
    raw.on('data', (chunk: Buffer) => chunks.push(chunk));
    raw.on('end', () => {
      const request = {
        path: raw.url ?? '',
        headers: raw.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
      };
      received.push(request);
      for (const { count, done } of waiting) if (received.length >= count) done();
      receiver.answer(request, response, raw);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: respond(200),
    arrived: async (count) => {
      if (received.length < count) await new Promise<void>((done) => waiting.push({ count, done }));
      return received;
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return receiver;
};
