import { buildSync } from 'esbuild';

/**
 * Bundles a module with its imports into one minified script for recent browsers.
 * @type {(path: string) => Uint8Array}
 */
export const bundleForBrowsers = (path) => {
  const { outputFiles } = buildSync({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'safari16'],
    charset: 'utf8',
  });
  const [script] = /** @type {[import('esbuild').OutputFile]} */ (outputFiles);
  return script.contents;
};
