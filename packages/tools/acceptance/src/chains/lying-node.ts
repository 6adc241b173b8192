import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainNode } from '@cpg/local-chain';

export interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a node answers: a result, an error of JSON-RPC, or an HTTP status. */
export type NodeAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly status: number; readonly retryAfterSeconds?: number };

/** Asks the honest node. */
type Ask = (method: string, ...params: unknown[]) => Promise<NodeAnswer>;

/** Changes the honest answer to a question. Returns the same object where it tells the truth. */
export type Lie = (question: Question, honest: NodeAnswer, ask: Ask) => NodeAnswer | Promise<NodeAnswer>;

export const rpcError = (code: number, message: string): NodeAnswer => ({ error: { code, message } });

/** A JSON-RPC node that forwards each question to an honest one, and lies while `lie` is set. */
export interface LyingNode {
  readonly url: string;
  lie: Lie | null;
  /** Answers that were not honest so far. */
  readonly lies: () => number;
  readonly close: () => Promise<void>;
}

export const startLyingNode = async (target: ChainNode): Promise<LyingNode> => {
  const { origin, pathname, username, password } = new URL(target.url);
  const authorization = username && { authorization: `Basic ${btoa(`${username}:${password}`)}` };
  let lies = 0;
  const ask = async (body: string): Promise<NodeAnswer> => {
    const headers = { 'content-type': 'application/json', ...authorization };
    const response = await fetch(origin + pathname, { method: 'POST', headers, body });
    const { result, error } = (await response.json()) as {
      result?: unknown;
      error?: { code: number; message: string };
    };
    return error ? { error } : { result };
  };
  const askOf: Ask = (method, ...params) => ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  const server = createServer((request, response) => {
    const answer = async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const { id, ...question } = JSON.parse(body) as Question & { id: number };
      const honest = await ask(body);
      const told = (await node.lie?.(question, honest, askOf)) ?? honest;
      if (told !== honest) lies += 1;
      if ('status' in told) {
        const { status, retryAfterSeconds } = told;
        response.writeHead(status, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) });
        return response.end();
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...told }));
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const node: LyingNode = {
    url: `http://${username && `${username}:${password}@`}127.0.0.1:${port}${pathname}`,
    lie: null,
    lies: () => lies,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((done) => server.close(() => done()));
    },
  };
  return node;
};

/** Answers late, up to `mostMs`. It is no lie: the answers are honest. */
export const delaying =
  (mostMs: number, random: () => number): Lie =>
  async (_question, honest) => {
    await sleep(random() * mostMs);
    return honest;
  };

/** Lies in a part of the answers. */
export const sometimes =
  (chance: number, random: () => number, lie: Lie): Lie =>
  (...told) =>
    random() < chance ? lie(...told) : told[1];
