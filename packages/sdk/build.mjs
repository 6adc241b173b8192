import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import ts from 'typescript';

// Builds the package in the current folder for both module systems: `dist/esm` and `dist/cjs`, each with types. Bundles
// its development dependencies. The `source` of each export in package.json is an entry.
const folder = process.cwd();
const at = (/** @type {string[]} */ ...path) => join(folder, ...path);
/** @type {{ exports: Record<string, { source?: string }>, dependencies?: object, peerDependencies?: object }} */
const { exports, dependencies, peerDependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
const ENTRIES = Object.values(exports).flatMap(({ source }) => source ?? []);
const external = Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [name, `${name}/*`]);
const FORMATS = /** @type {const} */ (['esm', 'cjs']);

rmSync(at('dist'), { recursive: true, force: true });
for (const format of FORMATS) {
  buildSync({
    absWorkingDir: folder,
    entryPoints: ENTRIES,
    outbase: 'src',
    outdir: `dist/${format}`,
    bundle: true,
    format,
    platform: 'neutral',
    target: 'es2022',
    external,
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'warning',
  });
  writeFileSync(at('dist', format, 'package.json'), `{ "type": "${format === 'esm' ? 'module' : 'commonjs'}" }\n`);
}
emitDeclarations(at('dist/esm'));
// TypeScript takes a declaration for ESM or CommonJS by the package.json beside it, so each format has its own.
for (const path of readdirSync(at('dist/esm'), { recursive: true, encoding: 'utf8' }).filter((one) =>
  one.endsWith('.d.ts'),
)) {
  // The compiler rewrites the extensions of imports in code alone.
  const declarations = readFileSync(at('dist/esm', path), 'utf8').replace(/(from '\.[^']+)\.ts';/g, "$1.js';");
  for (const format of FORMATS) {
    mkdirSync(dirname(at('dist', format, path)), { recursive: true });
    writeFileSync(at('dist', format, path), declarations);
  }
}

/** @type {(outDir: string) => void} */
function emitDeclarations(outDir) {
  const program = ts.createProgram(
    ENTRIES.map((path) => at(path)),
    {
      target: ts.ScriptTarget.ES2022,
      lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      strict: true,
      skipLibCheck: true,
      declaration: true,
      emitDeclarationOnly: true,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
      rootDir: at('src'),
      outDir,
    },
  );
  const { diagnostics } = program.emit();
  const faults = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (faults.length === 0) return;
  const host = {
    getCanonicalFileName: (/** @type {string} */ name) => name,
    getCurrentDirectory: () => folder,
    getNewLine: () => '\n',
  };
  process.stderr.write(ts.formatDiagnostics(faults, host));
  process.exit(1);
}
