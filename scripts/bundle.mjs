import { buildSync } from 'esbuild';

/** One minified script of a module and all that it imports, for browsers of the last years. */
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
