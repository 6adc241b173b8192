import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import type { Plugin, Rollup } from 'vite';

interface Budget {
  /** The module of the first page, which loads when the dashboard is opened. */
  readonly page: string;
  readonly maxBytes: number;
}

type Output = Rollup.OutputAsset | Rollup.OutputChunk;
type Bundle = Readonly<Record<string, Output>>;

/** Fails the build if all that a browser loads for the first page is larger, compressed. */
export const firstPageBudget = ({ page, maxBytes }: Budget): Plugin => ({
  name: 'first-page-budget',
  apply: 'build',
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((each) => each.type === 'chunk');
    const starts = chunks.filter((chunk) => chunk.isEntry || chunk.facadeModuleId?.endsWith(page));
    if (starts.length < 2) this.error(`the build has no page ${page}`);
    const files = new Set(starts.flatMap((chunk) => filesOf(chunk, bundle)));
    const bytes = [...files].reduce((sum, file) => sum + compressedSize(bundle[file]), 0);
    this.info(`the first page is ${bytes} bytes compressed, of ${maxBytes} at most`);
    if (bytes > maxBytes) this.error(`the first page is ${bytes} bytes compressed: at most ${maxBytes} are allowed`);
  },
});

const filesOf = (chunk: Rollup.OutputChunk, bundle: Bundle, seen = new Set<string>()): string[] => {
  if (seen.has(chunk.fileName)) return [];
  seen.add(chunk.fileName);
  const imported = chunk.imports.flatMap((name) => {
    const other = bundle[name];
    return other?.type === 'chunk' ? filesOf(other, bundle, seen) : [];
  });
  const { importedCss = [] } = chunk.viteMetadata ?? {};
  return [chunk.fileName, ...importedCss, ...imported];
};

const textOf = (file: Output | undefined): string | Uint8Array =>
  file === undefined ? '' : file.type === 'chunk' ? file.code : file.source;

const compressedSize = (file: Output | undefined): number => gzipSync(textOf(file)).length;

const MANTINE_CLASS = /\bm_[\da-f]{6,8}\b/g;

const classesIn = (texts: readonly string[]): Set<string> =>
  new Set(texts.flatMap((text) => text.match(MANTINE_CLASS) ?? []));

/** Fails the build if src/mantine.css lacks the styles of a component that is used. */
export const completeStyles = (): Plugin => ({
  name: 'complete-styles',
  apply: 'build',
  generateBundle(_options, bundle) {
    const texts = (extension: string) =>
      Object.values(bundle).flatMap((file) => (file.fileName.endsWith(extension) ? [String(textOf(file))] : []));
    const all = readFileSync(createRequire(import.meta.url).resolve('@mantine/core/styles.css'), 'utf8');
    const [known, used, styled] = [classesIn([all]), classesIn(texts('.js')), classesIn(texts('.css'))];
    const missing = [...used].filter((name) => known.has(name) && !styled.has(name));
    if (missing.length > 0) this.error(`src/mantine.css lacks the parts of Mantine with ${missing.join(', ')}`);
  },
});
