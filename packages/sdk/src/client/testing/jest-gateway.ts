import { type Client, clientOf } from '../client.ts';
import type { ClientOptions } from '../send.ts';

/** The body of a request that creates an order. The gateway of these tests does not read it. */
export const BODY = { external_reference_id: 'cart-1' } as never;

const BASE_URL = 'https://pay.example.com';

/** What a gateway in place of the network answers: a response, or a failure of the connection. */
export type Answer = Response | Error | ((request: Request) => Promise<Response>);

export interface Sent {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly key: string | null;
  readonly body: string;
  readonly headers: Headers;
}

/** A client whose requests get these answers, in order. It waits no real time: `waits` has the milliseconds. */
export const clientWith = (
  answers: readonly Answer[],
  options: Partial<ClientOptions> = {},
): { client: Client; sent: Sent[]; waits: number[] } => {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const { method, headers, url } = request;
    const path = url.slice(BASE_URL.length);
    const answer = answers[sent.length];
    sent.push({ method, path, key: headers.get('idempotency-key'), body: await request.clone().text(), headers });
    if (answer === undefined) throw new Error(`no answer is left for ${method} ${path}`);
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(request) : answer;
  };
  const timing = {
    random: () => 0.5,
    now: () => Date.parse('2026-01-31T12:00:00Z'),
    pause: async (ms: number) => void waits.push(ms),
  };
  return { client: clientOf({ baseUrl: BASE_URL, apiKey: 'ak_sandbox_1', fetch, ...options }, timing), sent, waits };
};

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

/** A refusal of the gateway. */
export const refusal = (status: number, code: string, headers: Record<string, string> = {}): Response =>
  json(status, { error: 'Error', message: `refused: ${code}`, statusCode: status, code, request_id: 'req_1' }, headers);

/** The error with which a call fails, or 'none'. */
export const failureOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => 'none',
    (error: unknown) => error,
  );
