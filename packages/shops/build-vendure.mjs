import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { bundle } from './bundle.mjs';

// Builds packages/shops/vendure, the current folder, without Vendure: `dist/index.js`, and the types of what
// `src/shop/index.ts` exports.
const folder = process.cwd();
const { peerDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const entry = join(folder, 'src/shop/index.ts');
const out = join(folder, 'dist');

rmSync(out, { recursive: true, force: true });
bundle({
  outfile: join(out, 'index.js'),
  external: Object.keys(peerDependencies).flatMap((name) => [name, `${name}/*`]),
  // Decorators of parameters. They have no types at run time: name what to inject by @Inject.
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, verbatimModuleSyntax: true } },
});
writeFileSync(join(out, 'package.json'), '{ "type": "commonjs" }\n');
declare(entry, new Set());

/** @type {(file: string, done: Set<string>) => void} */
function declare(file, done) {
  if (done.has(file)) return;
  done.add(file);
  const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
    fileName: file,
    reportDiagnostics: true,
    compilerOptions: { isolatedDeclarations: true, declaration: true, experimentalDecorators: true },
  });
  for (const { messageText } of diagnostics ?? []) {
    process.stderr.write(`${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}\n`);
    process.exitCode = 1;
  }
  const target = join(out, relative(dirname(entry), file).replace(/^(\.\.\/)+/, '')).replace(/\.ts$/, '.d.ts');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, outputText.replace(/(from '\.[^']+)\.ts';/g, "$1.js';"));
  for (const [, path] of outputText.matchAll(/from '(\.[^']+\.ts)';/g)) declare(resolve(dirname(file), path), done);
}
