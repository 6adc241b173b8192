export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests check its shape
  readonly body: any;
}

/** Sends JSON and reads JSON, with the headers of one user. */
export const jsonApi =
  (baseUrl: () => string, headers: () => Record<string, string>) =>
  async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<JsonAnswer> => {
    const response = await fetch(`${baseUrl()}${path}`, {
      method,
      headers: { ...headers(), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text) };
  };

/** The body of an answer with status 200. Throws for any other. */
export const okBody = ({ status, body }: JsonAnswer): JsonAnswer['body'] => {
  if (status === 200) return body;
  throw new Error(`the shop answered ${status}: ${JSON.stringify(body)}`);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
