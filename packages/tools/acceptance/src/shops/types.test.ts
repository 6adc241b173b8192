import { execFile } from 'node:child_process';
import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SHOPS } from './setup/installed.ts';
import { makeShopFolder } from './setup/shop-folder.ts';

const CHECKOUT = fileURLToPath(new URL('../../../../../', import.meta.url));
const sourceOf = (shop: string) => join(CHECKOUT, 'packages', 'shops', shop, 'src');

// The compiler of the checkout leaves out the files that import a shop, because it is not installed there.
test.each(SHOPS.filter((shop) => existsSync(sourceOf(shop))))(
  'the plugin for %s has the types of the shop',
  async (shop) => {
    const folder = makeShopFolder(shop);
    cpSync(sourceOf(shop), join(folder, 'plugin'), {
      recursive: true,
      filter: (path) => !path.endsWith('.test.ts') && !path.includes('/testing'),
    });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
    try {
      await promisify(execFile)(join(CHECKOUT, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
        ({ stdout }: { stdout: string }) => {
          throw new Error(stdout);
        },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

const tsconfig = {
  extends: join(CHECKOUT, 'tsconfig.base.json'),
  compilerOptions: {
    types: ['node'],
    typeRoots: [join(CHECKOUT, 'node_modules/@types')],
    experimentalDecorators: true,
    // Shops are not written for it.
    exactOptionalPropertyTypes: false,
    paths: {
      '@cpg/shop-client': [join(CHECKOUT, 'packages/shops/client/src/index.ts')],
      '@cpg/sdk': [join(CHECKOUT, 'packages/sdk/src/index.ts')],
      '@cpg/sdk/webhooks': [join(CHECKOUT, 'packages/sdk/src/webhooks/index.ts')],
    },
  },
  include: ['plugin'],
};
