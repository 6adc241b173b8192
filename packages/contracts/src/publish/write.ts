import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { committedSchemas, FOLDER, publishedDocuments, publishedSchemas } from './documents.ts';
import { breakingDifferences } from './breaking.ts';
import { SCHEMA_VERSION } from '../topics.ts';

// `pnpm --filter @cpg/contracts schemas`
const broken = breakingDifferences(committedSchemas(SCHEMA_VERSION), publishedSchemas());
if (broken.length > 0) {
  process.stderr.write(
    `these changes are incompatible with readers of ${SCHEMA_VERSION}: undo them, or raise SCHEMA_VERSION in topics.ts\n  ${broken.join('\n  ')}\n`,
  );
  process.exitCode = 1;
} else {
  for (const [name, document] of Object.entries(publishedDocuments())) {
    writeFileSync(join(FOLDER, name), `${JSON.stringify(document, null, 2)}\n`);
  }
}
