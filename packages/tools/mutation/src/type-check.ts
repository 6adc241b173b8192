import { join } from 'node:path';
import ts from 'typescript';
import { compilerOptions } from './related.ts';

/** A source file with other text. */
export interface ChangedFile {
  readonly file: string;
  readonly text: string;
}

/** Answers, for each of the changed files, whether the compiler accepts it. Files that import it are not checked.
 *  The changed files stand beside the originals in one program, so that what they import is checked once. */
export const typeCheck = (root: string, changed: readonly ChangedFile[]): ((index: number) => boolean) => {
  const options = compilerOptions(root);
  const host = ts.createCompilerHost(options);
  const paths = changed.map(({ file }, index) => join(root, file.replace(/(\.tsx?)$/, `.mutant-${index}$1`)));
  const texts = new Map(changed.map(({ text }, index) => [paths[index]!, text]));
  const { getSourceFile, fileExists, readFile } = host;
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, settings, ...rest) => {
    const text = texts.get(path);
    return text === undefined
      ? getSourceFile(path, settings, ...rest)
      : ts.createSourceFile(path, text, settings, false);
  };
  const program = ts.createProgram({ rootNames: paths, options, host });
  return (index) => {
    const file = program.getSourceFile(paths[index]!);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].length === 0;
  };
};
