import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { encodeBody, type EncodedBody, sendEncodedBody } from '../door/responses/compression.ts';
import { registerComponents } from './components.ts';
import { DESCRIPTION } from './description.ts';
import { completeOperation, type Operation } from './operations.ts';
import { serveDocsPages } from './pages.ts';
import { type Document, simplifySchemas } from './simplify-schemas.ts';

/** Serves the OpenAPI document at `/openapi.json` and its pages under `/docs`. Register it before the routes: it
 *  documents only those that are registered later. */
export const serveApiDocs = async (app: FastifyInstance): Promise<void> => {
  registerComponents();
  await app.register(swagger, {
    openapi: DESCRIPTION,
    transform: (route) => {
      const described = jsonSchemaTransform(withHealth(route));
      const { scope } = route.route.config ?? {};
      if (!scope) return described;
      const requirement = `Needs the scope \`${scope}\`.`;
      const description = [described.schema.description, requirement].filter(Boolean).join('\n\n');
      return { ...described, schema: { ...described.schema, description } };
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
