import { writeFileSync } from 'node:fs';
import { generatedFiles } from './files.mjs';

// `pnpm --filter @cpg/sdk generate`
for (const [name, text] of Object.entries(await generatedFiles()))
  writeFileSync(new URL(`../generated/${name}`, import.meta.url), text);
