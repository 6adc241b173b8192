import { buildSync } from 'esbuild';

/** Bundles a module with its imports into one minified script for recent browsers. */
export const bundleForBrowsers = (path) =>
  buildSync({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'safari16'],
    charset: 'utf8',
  }).outputFiles[0].contents;
