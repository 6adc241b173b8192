import { writeFileSync } from 'node:fs';
import { COMMITTED } from './committed.ts';
import { errorCatalogue } from './page.ts';

// `pnpm --filter @cpg/runtime errors`
writeFileSync(COMMITTED, errorCatalogue());
