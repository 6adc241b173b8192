import { readFile, writeFile } from 'node:fs/promises';
import { breakingDifferences, type OpenApi } from './breaking.ts';
import { apiDocument } from './document.ts';

// Writes the committed document anew, unless a client of the committed one would break: that needs a new version of the API.
const file = new URL('../../openapi.json', import.meta.url);

const committed = JSON.parse(await readFile(file, 'utf8').catch(() => '{"paths":{}}')) as OpenApi;
const document = await apiDocument();
const faults = breakingDifferences(committed, document);
if (faults.length > 0) {
  process.stderr.write(
    `this would break clients of ${file.pathname}:\n${faults.map((fault) => `  ${fault}\n`).join('')}`,
  );
  process.exitCode = 1;
} else {
  await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
}
