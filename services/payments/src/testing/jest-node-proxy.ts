import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcQuestion {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a node answers instead: a result, an error, or the raw bytes of an HTTP response. */
type Falsified =
  | { result: unknown }
  | { error: { code: number; message: string } }
  | { raw: string; status?: number; headers?: Record<string, string> };

export interface NodeProxy {
  readonly url: string;
  readonly asked: RpcQuestion[];
  /** Changes answers: gets the question and the honest result. Undefined leaves the answer. */
  falsify: (question: RpcQuestion, honest: unknown) => Falsified | 'silence' | undefined;
  readonly close: () => Promise<void>;
}

/** A node of JSON-RPC that forwards to another one, or answers alone, and lies on request. */
export const startNodeProxy = async (
  honest: (question: RpcQuestion) => Promise<unknown> = () => Promise.resolve(null),
): Promise<NodeProxy> => {
  const asked: RpcQuestion[] = [];
  const server: Server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as RpcQuestion & { id: number };
      const question = { method, params };
      asked.push(question);
      let answer: Falsified;
      try {
        answer = { result: await honest(question) };
      } catch (error) {
        const code = Number(/error (-?\d+)/.exec((error as Error).message)?.[1] ?? -32_000);
        answer = { error: { code, message: (error as Error).message } };
      }
      const falsified = proxy.falsify(question, 'result' in answer ? answer.result : undefined) ?? answer;
      if (falsified === 'silence') return;
      if ('raw' in falsified) {
        response.writeHead(falsified.status ?? 200, falsified.headers).end(falsified.raw);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...falsified }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: NodeProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    falsify: () => undefined,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
};
