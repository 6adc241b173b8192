import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { transformSync } from '@swc/core';

// Builds one package: every source file becomes JavaScript with a source map, without a type check (`pnpm types` checks
// the whole repository). Run in the folder of the package. `--out` names another folder than dist.
const { out } = parseArgs({ options: { out: { type: 'string', default: 'dist' } } }).values;

const isBuilt = (path) => path.endsWith('.ts') && !/\.test\.ts$|\/testing\/jest-/.test(path);

rmSync(out, { recursive: true, force: true });
for (const path of readdirSync('src', { recursive: true }).filter(isBuilt)) {
  const source = join('src', path);
  const target = join(out, path.replace(/\.ts$/, '.js'));
  const { code, map } = transformSync(readFileSync(source, 'utf8'), {
    configFile: false,
    swcrc: false,
    filename: source,
    sourceFileName: relative(dirname(target), source),
    sourceMaps: true,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript' },
      rewriteRelativeImportExtensions: true,
      transform: { verbatimModuleSyntax: true },
    },
    module: { type: 'es6' },
  });
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${code}//# sourceMappingURL=${path.split('/').at(-1).replace(/\.ts$/, '.js.map')}\n`);
  writeFileSync(`${target}.map`, map);
}
