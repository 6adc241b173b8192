import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { schemaFileOf, SCHEMA_VERSION } from '../topics.ts';
import { dataSchema, envelopeSchema, MESSAGE_TYPES, webhookSchema } from './schemas.ts';
import { asyncApi } from './asyncapi.ts';

/** The published documents (`docs/events`) by file name: a JSON Schema (2020-12) for the data of every message type,
 *  one for the envelope, one for webhook bodies, and the AsyncAPI document of the topics. */
export const publishedDocuments = (): Record<string, unknown> => ({
  ...publishedSchemas(),
  'asyncapi.json': asyncApi(),
});

/** The JSON Schemas among the published documents. Readers validate with them, so they must not change incompatibly. */
export const publishedSchemas = (): Record<string, unknown> => ({
  ...Object.fromEntries(MESSAGE_TYPES.map((type) => [schemaFileOf(type), dataSchema(type)])),
  [`envelope.${SCHEMA_VERSION}.json`]: envelopeSchema(),
  [`webhook.${SCHEMA_VERSION}.json`]: webhookSchema(),
});

export const FOLDER = join(import.meta.dirname, '../../../../docs/events');

/** The documents in `docs/events`, by file name. */
export const committedDocuments = (): Record<string, unknown> =>
  Object.fromEntries(
    readdirSync(FOLDER)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name, JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))]),
  );

/** The committed JSON Schemas of one version. */
export const committedSchemas = (version: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(committedDocuments()).filter(([name]) => name.endsWith(`.${version}.json`)));
