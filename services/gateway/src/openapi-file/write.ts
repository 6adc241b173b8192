import { readFile, writeFile } from 'node:fs/promises';
import { breakingChanges, type OpenApi } from './breaking-changes.ts';
import { openApiDocument } from './document.ts';

// Regenerates openapi.json. Fails if the change would break existing clients: that needs a new API version.
const file = new URL('../../openapi.json', import.meta.url);

const committed = JSON.parse(await readFile(file, 'utf8').catch(() => '{"paths":{}}')) as OpenApi;
const document = await openApiDocument();
const breaking = breakingChanges(committed, document);
if (breaking.length > 0) {
  process.stderr.write(
    `these changes would break clients of ${file.pathname}:\n${breaking.map((change) => `  ${change}\n`).join('')}` +
      'if they are wanted in this version, delete the file and run this again\n',
  );
  process.exitCode = 1;
} else {
  await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
}
