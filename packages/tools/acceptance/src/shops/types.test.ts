import { execFile } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SHOPS } from './setup/installed.ts';
import { makeFolderWithPlugin } from './setup/shop.ts';
import { makeShopFolder } from './setup/shop-folder.ts';

const CHECKOUT = fileURLToPath(new URL('../../../../../', import.meta.url));
const sourceOf = (shop: string) => join(CHECKOUT, 'packages', 'shops', shop, 'src');

// The compiler of the checkout leaves out the files that import a shop, because it is not installed there.
test.each(SHOPS)('the plugin for %s has the types of the shop', async (shop) => {
  const folder = makeShopFolder(shop);
  cpSync(sourceOf(shop), join(folder, 'plugin'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts') && !path.includes('/testing'),
  });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  await compile(folder, tsconfig);
});

// Projects of Vendure were made with the former, later with the latter.
test.each([
  { module: 'commonjs', moduleResolution: 'node' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
])('a project of Vendure with module resolution $moduleResolution finds the types of the plugin', async (modules) => {
  const folder = makeFolderWithPlugin('vendure');
  writeFileSync(
    join(folder, 'vendure-config.ts'),
    `import { CryptoPaymentsPlugin } from '@cpg/vendure-payments';
     export const init: { name: string } = CryptoPaymentsPlugin.init({
       gatewayUrl: 'http://127.0.0.1:4000', apiKey: 'key', shop: 'my-shop', serverUrl: 'http://127.0.0.1:3000',
     });
     // @ts-expect-error: the plugin has types, and requires these options.
     CryptoPaymentsPlugin.init({ gatewayUrl: 1 });`,
  );
  const compilerOptions = { ...modules, strict: true, noEmit: true, skipLibCheck: true, target: 'es2022' };
  await compile(folder, { compilerOptions, include: ['vendure-config.ts'] });
});

/** Compiles a folder with the compiler of the checkout, then removes the folder. Throws the messages of the
 *  compiler. */
const compile = async (folder: string, config: object): Promise<void> => {
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  try {
    await promisify(execFile)(join(CHECKOUT, 'node_modules/.bin/tsc'), ['-p', folder]).catch(
      ({ stdout }: { stdout: string }) => {
        throw new Error(stdout);
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

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
