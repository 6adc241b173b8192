import { readFileSync } from 'node:fs';
import { generatedFiles } from './files.mjs';

// To mend it, run `pnpm documents`.
test('the generated files are those of the API and of the published schemas', async () => {
  for (const [name, text] of Object.entries(await generatedFiles()))
    expect({
      name,
      isCurrent: readFileSync(new URL(`../generated/${name}`, import.meta.url), 'utf8') === text,
    }).toEqual({
      name,
      isCurrent: true,
    });
});
