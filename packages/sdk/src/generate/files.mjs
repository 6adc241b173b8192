import { readdirSync, readFileSync } from 'node:fs';
import { apiTypes, clientMethods } from './api.mjs';
import { eventModule } from './events.mjs';

const ROOT = new URL('../../../../', import.meta.url);

const read = (/** @type {string} */ path) => JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));

/**
 * The files of `src/generated`, from the API's document and the published schemas of Kafka messages.
 * @type {() => Promise<Record<string, string>>}
 */
export const generatedFiles = async () => {
  const api = read('services/gateway/openapi.json');
  const schemas = readdirSync(new URL('docs/events/', ROOT)).flatMap((file) => {
    const name = /^(.+)\.v\d+\.json$/.exec(file)?.[1];
    return name === undefined ? [] : [[name, read(`docs/events/${file}`)]];
  });
  return {
    'api.ts': await apiTypes(api),
    'methods.ts': clientMethods(api),
    'events.ts': await eventModule(Object.fromEntries(schemas)),
  };
};
