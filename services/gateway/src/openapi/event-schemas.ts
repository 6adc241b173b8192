import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';

/** The published documents of events, seen from `src` and from `dist`. An image has them at the same path below `/`. */
const FOLDER = new URL('../../../../docs/events/', import.meta.url);

/** Serves the JSON Schemas of events and webhooks at `/schemas/<name>.json`, where `<name>` is the last part of their
 *  `$id`, and the AsyncAPI document at `/schemas/asyncapi.json`. A file never changes while the process runs. */
export const serveEventSchemas = (app: FastifyInstance): void => {
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    const type = file === 'asyncapi.json' ? 'application/json' : 'application/schema+json';
    app.get(`/schemas/${file}`, { schema: { hide: true } }, async (_, reply) =>
      reply
        .type(`${type}; charset=utf-8`)
        .serializer((body: string) => body)
        .send(text),
    );
  }
};
