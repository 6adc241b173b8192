/** An operation of the document, as far as it is completed here. */
export interface Operation {
  security?: Record<string, string[]>[];
  parameters?: unknown[];
  requestBody?: { required?: boolean };
  responses: Record<string, object>;
}

// What is answered besides what the route itself answers.
const REFUSALS: Record<number, string> = {
  400: 'The request is not valid; `details` names every field at fault.',
  401: 'The API key is missing, malformed, unknown, revoked, expired, or of the other environment.',
  403: 'The key lacks the scope that this needs.',
  404: 'There is none with this id: it never was, is deleted, or belongs to another merchant.',
  409: 'The state of the resource does not allow it, or another request with this `Idempotency-Key` is running; `code` says which.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not `application/json`.',
  422: 'This `Idempotency-Key` was used with another request.',
  429: 'Too many requests.',
  503: 'Something this depends on is down, or has no fresh rate. Nothing was half done: try again.',
};

const headers = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Adds to an operation what every one of its kind has: its security, its refusals, its headers. */
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
    ...(repeatable ? [422] : []),
    429,
    503,
  ];
  const answers = Object.entries(operation.responses).map(([status, answer]): [string, object] => [
    status,
    { ...answer, description: 'Done.', headers: headers(...ALWAYS, ...(repeatable ? ['Idempotency-Replayed'] : [])) },
  ]);
  return {
    ...operation,
    security: versioned ? [{ apiKey: [] }] : [{}, { apiKey: [] }],
    ...(repeatable && {
      parameters: [...(operation.parameters ?? []), { $ref: '#/components/parameters/Idempotency-Key' }],
    }),
    ...(operation.requestBody && {
      requestBody: { ...operation.requestBody, required: changes && !NEEDS_NO_BODY.test(`${method} ${path}`) },
    }),
    responses: {
      ...Object.fromEntries(answers),
      ...Object.fromEntries(refusals.map((status): [number, object] => [status, refusal(status)])),
    },
  };
};

const HEALTH: Record<string, Operation['responses']> = {
  '/health': { 200: { description: 'It runs.' } },
  '/health/ready': {
    200: { description: 'All of it is there.' },
    503: { description: 'The list `missing` names what is not there.', headers: headers('Retry-After') },
  },
};

// None at all, or one that may be left out.
const NEEDS_NO_BODY = /^delete |\/(cancel|capture|rotate-secret|redeliver|refund|confirm|fail)$/;

const ALWAYS = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

const refusal = (status: number) => ({
  description: REFUSALS[status],
  headers: headers('X-Request-Id', ...(status === 429 || status === 503 ? ['Retry-After'] : [])),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});
