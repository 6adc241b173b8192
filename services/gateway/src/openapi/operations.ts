import { errorResponses } from './error-responses.ts';

/** The parts of an OpenAPI operation that this file reads or adds. */
export interface Operation {
  operationId?: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: unknown[];
  requestBody?: { required?: boolean; description?: string };
  responses: Record<string, object>;
}

const headers = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Adds the parts that operations have in common: security, error responses, headers and the idempotency key. */
export const completeOperation = (path: string, method: string, operation: Operation): Operation => {
  if (path.startsWith('/health')) return { ...operation, security: [], responses: HEALTH[path] ?? {} };
  const { operationId = '' } = operation;
  const isProviders = path.startsWith('/v1/providers/');
  const versioned = path.startsWith('/v1/') && !isProviders;
  const hasBody = method !== 'get';
  const repeatable = versioned && method === 'post';
  const isList = operationId.startsWith('list');
  const added = [
    ...ALWAYS,
    ...(repeatable ? ['Idempotency-Replayed'] : []),
    ...(CREATES.has(operationId) ? ['Location'] : []),
    ...(isList ? ['Link'] : []),
  ];
  const answers = Object.entries(operation.responses).map(([status, answer]): [string, object] => [
    status,
    { ...answer, description: 'Success.', headers: headers(...added) },
  ]);
  const isOptional = OPTIONAL_BODY.test(`${method} ${path}`);
  return {
    ...operation,
    security: isProviders ? [{ providerSignature: [] }] : versioned ? [{ apiKey: [] }] : [{}, { apiKey: [] }],
    ...(repeatable && {
      parameters: [...(operation.parameters ?? []), { $ref: '#/components/parameters/Idempotency-Key' }],
    }),
    ...(operation.requestBody && {
      requestBody: {
        ...operation.requestBody,
        required: hasBody && !isOptional,
        ...(isOptional && { description: 'Optional: no body, `null` and `{}` mean the same.' }),
      },
    }),
    responses: {
      ...Object.fromEntries(answers),
      ...errorResponses({
        operationId,
        versioned,
        namesResource: path.includes('{id}') || !versioned,
        hasBody,
        repeatable,
      }),
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

// Operations that create a resource with a path of its own.
const CREATES = new Set(['createOrder', 'createWebhook', 'refundPayment', 'registerPayment', 'testWebhook']);

const ALWAYS = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
