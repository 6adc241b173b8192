import { readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** The imports between files of the checkout, also by package name. Paths are relative to the checkout. */
export class Imports {
  private readonly importers = new Map<string, Set<string>>();

  constructor(checkout: string, files: readonly string[]) {
    const root = realpathSync(checkout);
    const options = compilerOptions(root);
    const cache = ts.createModuleResolutionCache(root, (name) => name, options);
    for (const file of files.filter((path) => /\.tsx?$/.test(path))) {
      const source = readFileSync(join(root, file), 'utf8');
      for (const { fileName } of ts.preProcessFile(source, true, false).importedFiles) {
        if (!fileName.startsWith('.') && !fileName.startsWith('@cpg/')) continue;
        const resolved = ts.resolveModuleName(
          fileName,
          join(root, file),
          options,
          ts.sys,
          cache,
          undefined,
          ts.ModuleKind.ESNext,
        ).resolvedModule?.resolvedFileName;
        if (!resolved) continue;
        const imported = relative(root, realpathSync(resolved));
        this.importers.set(imported, (this.importers.get(imported) ?? new Set()).add(file));
      }
    }
  }

  private importersOf(file: string): readonly string[] {
    return [...(this.importers.get(file) ?? [])];
  }

  /** The files that import one of these, or import a file that does, those with the shortest way first. */
  dependentsOf(files: Iterable<string>): Set<string> {
    const found = new Set(files);
    for (const file of found) for (const importer of this.importersOf(file)) found.add(importer);
    return found;
  }
}

/** The options of tsconfig.json. */
export const compilerOptions = (root: string): ts.CompilerOptions => {
  const file = join(root, 'tsconfig.base.json');
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(file, (path) => ts.sys.readFile(path)).config,
    { ...ts.sys, readDirectory: () => [] },
    root,
    undefined,
    file,
  );
  return options;
};
