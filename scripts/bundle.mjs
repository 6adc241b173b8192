import { buildSync } from 'esbuild';

/**
 * Bundles a module with its imports into one minified script for recent browsers.
 * @type {(path: string) => Uint8Array}
 */
export const bundleForBrowsers = (path) =>
  buildSync({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'safari16'],
    charset: 'utf8',
  }).outputFiles.map(({ contents }) => contents)[0] ?? new Uint8Array();
