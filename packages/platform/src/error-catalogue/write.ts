import { writeFileSync } from 'node:fs';
import { CATALOGUE_PATH, renderErrorCatalogue } from './page.ts';

// Run by `pnpm --filter @cpg/platform errors`.
writeFileSync(CATALOGUE_PATH, renderErrorCatalogue());
