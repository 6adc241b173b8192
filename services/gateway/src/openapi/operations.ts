/** The parts of an OpenAPI operation that this file reads or adds. */
export interface Operation {
  security?: Record<string, string[]>[];
  parameters?: unknown[];
  requestBody?: { required?: boolean };
  responses: Record<string, object>;
}

// Error responses that the routes themselves do not declare.
const REFUSALS: Record<number, string> = {
  400: 'The request is not valid. `details` lists every invalid field.',
  401: 'The API key is missing, malformed, unknown, revoked, expired, or of the other environment.',
  403: 'The API key lacks the required scope.',
  404: 'No resource has this id: it does not exist, is deleted, or belongs to another merchant.',
  409: 'The state of the resource does not allow the request, or another request with this `Idempotency-Key` is running. See `code`.',
  410: 'The request repeats an earlier one with the same `Idempotency-Key`, and its order or webhook was deleted since.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not `application/json`.',
  422: 'This `Idempotency-Key` was used with a different request.',
  429: 'Too many requests.',
  503: 'A dependency is unavailable, or there is no current exchange rate. No partial change was made. Try again.',
};

const headers = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Adds the parts that operations have in common: security, error responses, headers and the idempotency key. */
export const completeOperation = (path: string, method: string, operation: Operation): Operation => {
  if (path.startsWith('/health')) return { ...operation, responses: HEALTH[path] ?? {} };
  const versioned = path.startsWith('/v1/');
  const changes = method !== 'get';
  const repeatable = versioned && method === 'post';
  const refusals = [
    400,
    401,
    ...(versioned ? [403] : []),
    ...(path.includes('{id}') || !versioned ? [404] : []),
    ...(changes ? [409, 413, 415] : []),
    ...(repeatable ? [410, 422] : []),
    429,
    503,
  ];
  const answers = Object.entries(operation.responses).map(([status, answer]): [string, object] => [
    status,
    {
      ...answer,
      description: 'Success.',
      headers: headers(...ALWAYS, ...(repeatable ? ['Idempotency-Replayed'] : [])),
    },
  ]);
  return {
    ...operation,
    security: versioned ? [{ apiKey: [] }] : [{}, { apiKey: [] }],
    ...(repeatable && {
      parameters: [...(operation.parameters ?? []), { $ref: '#/components/parameters/Idempotency-Key' }],
    }),
    ...(operation.requestBody && {
      requestBody: { ...operation.requestBody, required: changes && !OPTIONAL_BODY.test(`${method} ${path}`) },
    }),
    responses: {
      ...Object.fromEntries(answers),
      ...Object.fromEntries(refusals.map((status): [number, object] => [status, refusal(status)])),
    },
  };
};

const HEALTH: Record<string, Operation['responses']> = {
  '/health': { 200: { description: 'The process is running.' } },
  '/health/ready': {
    200: { description: 'All dependencies are available.' },
    503: { description: 'A dependency is unavailable. `missing` lists the names.', headers: headers('Retry-After') },
  },
};

// Operations without a body, or with an optional one.
const OPTIONAL_BODY = /^delete |\/(cancel|capture|rotate-secret|redeliver|refund|confirm|fail)$/;

const ALWAYS = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

const refusal = (status: number) => ({
  description: REFUSALS[status],
  headers: headers('X-Request-Id', ...(status === 429 || status === 503 ? ['Retry-After'] : [])),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});
