import { buildSync } from 'esbuild';

/** Bundles a plugin as CommonJS in one file, with the packages of this repository. The shop provides what is `external`.
 *  @type {(plugin: import('esbuild').BuildOptions & { external: string[] }) => void} */
export const bundle = (plugin) => {
  buildSync({
    entryPoints: ['src/shop/index.ts'],
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    conditions: ['source'],
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'warning',
    ...plugin,
  });
};
