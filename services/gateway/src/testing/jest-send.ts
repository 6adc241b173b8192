import type { FastifyInstance, InjectOptions } from 'fastify';

export type Method = NonNullable<InjectOptions['method']>;

export interface TestResponse {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read arbitrary parts of the body
  readonly body: any;
  readonly headers: Record<string, unknown>;
  readonly text: string;
}

/** Sends a request to the app without a network. A string body is sent as it is, any other body as JSON. */
export const send = async (
  app: FastifyInstance,
  method: Method,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<TestResponse> => {
  const response = await app.inject({
    method,
    url,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const isJson =
    String(response.headers['content-type']).includes('json') &&
    response.body !== '' &&
    response.headers['content-encoding'] === undefined;
  return {
    status: response.statusCode,
    body: isJson ? response.json() : undefined,
    headers: response.headers,
    text: response.body,
  };
};
