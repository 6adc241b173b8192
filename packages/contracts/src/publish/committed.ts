import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
