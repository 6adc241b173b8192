import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { transformSync } from '@swc/core';
import { bundleForBrowsers } from './bundle.mjs';

// Builds the package in the current folder into `--out`, without a type check (see `pnpm types`).
const { out } = parseArgs({ options: { out: { type: 'string', default: 'dist' } } }).values;

const files = readdirSync('src', { recursive: true, encoding: 'utf8' });
/** @type {(path: string) => boolean} */
const isForBrowsers = (path) => /\/browser\//.test(path);
/** @type {(path: string) => boolean} */
const isBuilt = (path) => /\.tsx?$/.test(path) && !/\.test\.ts$|\/testing\/jest-/.test(path) && !isForBrowsers(path);

rmSync(out, { recursive: true, force: true });
for (const path of files.filter(isBuilt)) {
  const source = join('src', path);
  const target = join(out, path.replace(/\.tsx?$/, '.js'));
  const { code, map } = transformSync(readFileSync(source, 'utf8'), {
    configFile: false,
    swcrc: false,
    filename: source,
    sourceFileName: relative(dirname(target), source),
    sourceMaps: true,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', tsx: path.endsWith('.tsx') },
      // @ts-expect-error The types of swc do not have it.
      rewriteRelativeImportExtensions: true,
      transform: { verbatimModuleSyntax: true, react: { runtime: 'automatic', importSource: 'preact' } },
    },
    module: { type: 'es6' },
  });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${code}//# sourceMappingURL=${basename(path).replace(/\.tsx?$/, '.js.map')}\n`);
  writeFileSync(`${target}.map`, /** @type {string} */ (map));
}
for (const path of files.filter((path) => /\.(css|png|mjs)$/.test(path))) {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  copyFileSync(join('src', path), join(out, path));
}
for (const path of files.filter((path) => path.endsWith('/browser/page.ts'))) {
  const target = join(out, path.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, bundleForBrowsers(join('src', path)));
}
