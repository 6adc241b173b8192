import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { renderErrorCatalogue } from '@cpg/runtime';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { nameComponents } from './components.ts';
import { DESCRIPTION } from './description.ts';
import { completeOperation, type Operation } from './operations.ts';
import { type Document, tidySchemas } from './tidy.ts';

// swagger-ui loads nothing but its own files; its styles are partly inline.
const DOCS_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** Serves the OpenAPI document of the routes that are registered after it at `/openapi.json`, a page of it at `/docs`, and the error
 *  catalogue that it points to. */
export const documentApi = async (app: FastifyInstance): Promise<void> => {
  nameComponents();
  await app.register(swagger, {
    openapi: DESCRIPTION,
    transform: (route) => {
      const described = jsonSchemaTransform(withHealth(route));
      const { scope } = route.route.config ?? {};
      if (!scope) return described;
      const needs = `Needs the scope \`${scope}\`.`;
      const description = [described.schema.description, needs].filter(Boolean).join('\n\n');
      return { ...described, schema: { ...described.schema, description } };
    },
    transformObject: (document) =>
      tidySchemas(completed(jsonSchemaTransformObject(document) as unknown as Document)) as never,
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_POLICY,
    uiConfig: { deepLinking: true, validatorUrl: null },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  app.get('/docs/errors.md', { schema: { hide: true } }, async (_, reply) =>
    reply
      .type('text/markdown; charset=utf-8')
      .serializer((text: string) => text)
      .send(renderErrorCatalogue()),
  );
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
  '/health': { operationId: 'health', summary: 'Whether the process runs', tags: ['Health'] },
  '/health/ready': {
    operationId: 'ready',
    summary: 'Whether what it depends on is there',
    tags: ['Health'],
  },
};

/** The health routes are the same in every service and bring no description. */
const withHealth = <T extends { url: string; schema: object }>(route: T): T =>
  HEALTH[route.url] ? { ...route, schema: { ...route.schema, ...HEALTH[route.url] } } : route;
