import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { encodeBody, type EncodedBody, sendEncodedBody } from '../door/responses/compression.ts';
import { registerComponents } from './components.ts';
import { DESCRIPTION } from './description.ts';
import { serveEventSchemas } from './event-schemas.ts';
import { serveDocsPages } from './pages.ts';
import { errorResponses, healthErrors } from './error-responses.ts';

/** Serves the OpenAPI document at `/openapi.json` and its pages under `/docs`. Register it before the routes: it
 *  documents only those that are registered later. */
export const serveApiDocs = async (app: FastifyInstance): Promise<void> => {
  registerComponents();
  await app.register(swagger, {
    openapi: DESCRIPTION,
    transform: (route) => {
      const described = withKeptTexts(jsonSchemaTransform(withDefiniteBody(withHealth(route))));
      const { scope } = route.route.config ?? {};
      if (!scope) return described;
      const requirement = `Needs the scope \`${scope}\`.`;
      const description = [described.schema.description, requirement].filter(Boolean).join('\n\n');
      return { ...described, schema: { ...described.schema, description, 'x-required-scope': scope } };
    },
    transformObject: (document) =>
      simplifySchemas(completed(jsonSchemaTransformObject(document) as unknown as Document)) as never,
  });
  let document: Promise<EncodedBody> | undefined;
  app.get('/openapi.json', { schema: { hide: true }, compress: false }, async (request, reply) => {
    document ??= encodeBody(Buffer.from(JSON.stringify(app.swagger())));
    return sendEncodedBody(request, reply.type('application/json; charset=utf-8'), await document);
  });
  serveDocsPages(app);
  serveEventSchemas(app);
};

const completed = (document: Document): Document => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations as Record<string, Operation>).map(([method, operation]) => [
          method,
          completeOperation(path, method, operation),
        ]),
      ),
    ]),
  ),
});

const HEALTH: Record<string, object> = {
  '/health': {
    operationId: 'health',
    summary: 'Check that the process is running',
    description: 'Does not check dependencies: use it to decide whether to restart the process.',
    tags: ['Health'],
  },
  '/health/ready': {
    operationId: 'ready',
    summary: 'Check that all dependencies are available',
    description: 'Use it to decide whether to send requests to this process.',
    tags: ['Health'],
  },
};

/** Adds descriptions to the health routes, which all services share. */
const withHealth = <T extends { url: string; schema: object }>(route: T): T =>
  HEALTH[route.url] ? { ...route, schema: { ...route.schema, ...HEALTH[route.url] } } : route;

/** Documents no body that can only be empty. `completeOperation` makes the others required, except those of
 *  OPTIONAL_BODIES: the gateway takes requests without them, but clients of several generators always send a body. */
const withDefiniteBody = <T extends { schema: { body?: unknown } }>(route: T): T => {
  const { body, ...schema } = route.schema;
  const given = definite(body);
  const isEmpty = given instanceof z.ZodObject && Object.keys(given.shape).length === 0;
  return { ...route, schema: given === undefined || isEmpty ? schema : { ...schema, body: given } };
};

const definite = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? definite(schema.unwrap()) : schema;

/** Hides the references of query parameters until `simplifyNode`, because @fastify/swagger drops the description beside
 *  a reference. */
const withKeptTexts = <T extends { schema: FastifySchema }>(route: T): T => {
  const { querystring } = route.schema as { querystring?: { properties: Record<string, { $ref?: string }> } };
  if (!querystring) return route;
  const properties = Object.entries(querystring.properties).map(([name, { $ref, ...rest }]) => [
    name,
    { ...rest, ...($ref !== undefined && { [HIDDEN_REF]: $ref }) },
  ]);
  return {
    ...route,
    schema: { ...route.schema, querystring: { ...querystring, properties: Object.fromEntries(properties) as object } },
  };
};

const HIDDEN_REF = 'x-ref';

/** The parts of an OpenAPI operation that this file reads or adds. */
interface Operation {
  operationId?: string;
  description?: string;
  'x-required-scope'?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: object;
  responses: Record<string, object>;
}

interface Parameter {
  readonly schema?: { readonly type?: string };
  readonly [field: string]: unknown;
}

const headers = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Adds the parts that operations have in common: security, error responses, headers and the idempotency key. */
const completeOperation = (path: string, method: string, operation: Operation): Operation => {
  const { operationId = '' } = operation;
  if (path.startsWith('/health'))
    return { ...operation, security: [], responses: { ...HEALTH_RESPONSES[path], ...healthErrors(operationId) } };
  const isProviders = path.startsWith('/v1/providers/');
  const versioned = path.startsWith('/v1/') && !isProviders;
  const takesIdempotencyKey = versioned && method === 'post';
  const isList = operationId.startsWith('list');
  const added = [
    ...ALWAYS,
    ...(takesIdempotencyKey ? ['Idempotency-Replayed'] : []),
    ...(CREATES.has(operationId) ? ['Location'] : []),
    ...(isList ? ['Link'] : []),
  ];
  const parameters = [
    ...(operation.parameters ?? []).map(asText),
    ...(takesIdempotencyKey ? [{ $ref: '#/components/parameters/Idempotency-Key' }] : []),
  ];
  const answers = Object.entries(operation.responses).map(([status, answer]): [string, object] => [
    status,
    { ...answer, description: 'Success.', headers: headers(...added) },
  ]);
  return {
    ...operation,
    security: isProviders ? [{ providerSignature: [] }] : versioned ? [{ apiKey: [] }] : [{}, { apiKey: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(operation.requestBody && {
      requestBody: { ...operation.requestBody, required: !OPTIONAL_BODIES.has(operationId) },
    }),
    responses: {
      ...Object.fromEntries(answers),
      ...errorResponses({
        operationId,
        scope: operation['x-required-scope'],
        versioned,
        namesResource: path.includes('{id}') || !versioned,
        changes: method !== 'get',
        hasBody: operation.requestBody !== undefined,
        takesIdempotencyKey,
      }),
    },
  };
};

/** The first version of these operations had no body: their clients send none. */
const OPTIONAL_BODIES = new Set(['cancelOrder']);

/** A parameter with keys of its own is text here: the clients of some generators (Java) cannot send an object. */
const asText = (parameter: Parameter): Parameter =>
  parameter.schema?.type === 'object' ? { ...parameter, schema: { type: 'string' } } : parameter;

const HEALTH_RESPONSES: Record<string, Operation['responses']> = {
  '/health': { 200: { description: 'The process is running.' } },
  '/health/ready': {
    200: { description: 'All dependencies are available.' },
    503: { description: 'A dependency is unavailable. `missing` lists the names.', headers: headers('Retry-After') },
  },
};

// Operations that create a resource with a path of its own.
const CREATES = new Set([
  'createOrder',
  'createWebhook',
  'createApiKey',
  'createUser',
  'refundPayment',
  'registerPayment',
  'testWebhook',
]);

const ALWAYS = ['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

const COMPONENT = '#/components/schemas/';

type Schemas = Record<string, unknown>;

interface Document {
  paths: Record<string, unknown>;
  webhooks?: Record<string, unknown>;
  components: { schemas: Schemas };
}

/** Simplifies the schemas generated from zod: one schema per name, no redundant bounds, and only schemas that are
 *  used. */
const simplifySchemas = <T extends Document>(document: T): T =>
  keepReferenced(rewrite(mergeInputSchemas(document), simplifyNode));

/** The generator writes two schemas per name: `XInput` for requests, and `X` for responses, which forbids unknown
 *  fields. Responses may get new fields within an API version, so `XInput` is used for both. */
const mergeInputSchemas = <T extends Document>(document: T): T => {
  const inputs = Object.entries(document.components.schemas).filter(([name]) => name.endsWith('Input'));
  const named = inputs.map(([name, schema]) => [name.slice(0, -'Input'.length), schema]);
  return withSchemas(document, Object.fromEntries(named) as Schemas);
};

// `\x00`, because the expressions of several languages do not know `\u0000`.
const portable = (pattern: unknown): string => String(pattern).replaceAll('\\u0000', '\\x00');

const ANY_JSON = { description: 'Any JSON value. Text in a request must not contain NUL.', pattern: '^[^\\x00]*$' };

const isNull = (schema: unknown): boolean => (schema as { type?: unknown }).type === 'null';

/** The one alternative beside null, as a type of two names; undefined for other alternatives. */
const nullable = (alternatives: unknown): object | undefined => {
  if (!Array.isArray(alternatives) || alternatives.length !== 2 || !isNull(alternatives[1])) return undefined;
  const { type, ...rest } = alternatives[0] as Record<string, unknown>;
  return typeof type === 'string' ? { ...rest, type: [type, 'null'] } : undefined;
};

/** The fields that a value may have. A field that may not be there has a schema only for its message. */
const allowed = (properties: object): object =>
  Object.fromEntries(Object.entries(properties).filter(([, schema]) => !('not' in (schema as object))));

const simplifyNode = (node: Record<string, unknown>): unknown => {
  const reference = node.$ref ?? node[HIDDEN_REF];
  if (typeof reference === 'string') {
    // The generated schema of any JSON value uses a reference that OpenAPI tools cannot resolve.
    if (reference.includes('__shared')) return ANY_JSON;
    // The place inherits these from the named schema. Clients always send a default: the description has it.
    const { example: _, 'x-extensible-enum': __, [HIDDEN_REF]: ___, default: ____, ...rest } = node;
    return { ...rest, $ref: reference.startsWith(COMPONENT) ? reference.replace(/Input$/, '') : reference };
  }
  const { minimum, maximum, pattern, example, const: only, anyOf, properties, ...rest } = node;
  return {
    ...rest,
    ...(anyOf !== undefined && (nullable(anyOf) ?? { anyOf })),
    ...(properties !== undefined && { properties: allowed(properties as object) }),
    // Generators make text of every constant: a boolean then has no other value, which its description says.
    ...(typeof only === 'string' && { enum: [only] }),
    // Parameters and contents have a schema and show their example; examples of fields are part of those of objects.
    ...(example !== undefined && 'schema' in node && { example }),
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    // The format `date-time` already implies the pattern.
    ...(pattern !== undefined && node.format !== 'date-time' && { pattern: portable(pattern) }),
  };
};

/** Replaces every object of the document by the result of `change`, inner objects first. */
const rewrite = <T>(document: T, change: (node: Record<string, unknown>) => unknown): T =>
  JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? change(value as Record<string, unknown>)
      : value,
  ) as T;

/** Removes the components that no path refers to, directly or indirectly. */
const keepReferenced = <T extends Document>(document: T): T => {
  const { schemas } = document.components;
  const referenced = new Set<string>();
  const follow = (node: unknown): void => {
    for (const name of referencedBy(node)) {
      if (referenced.has(name)) continue;
      referenced.add(name);
      follow(schemas[name]);
    }
  };
  follow(document.paths);
  follow(document.webhooks);
  return withSchemas(document, Object.fromEntries([...referenced].sort().map((name) => [name, schemas[name]])));
};

const referencedBy = (node: unknown): string[] =>
  [...JSON.stringify(node ?? null).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!);

const withSchemas = <T extends Document>(document: T, schemas: Schemas): T => ({
  ...document,
  components: { ...document.components, schemas },
});
