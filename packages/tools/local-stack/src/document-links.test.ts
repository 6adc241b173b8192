import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKOUT = fileURLToPath(new URL('../../../../', import.meta.url));
const read = (path: string) => readFileSync(join(CHECKOUT, path), 'utf8');

const markdownIn = (folder: string): string[] =>
  readdirSync(join(CHECKOUT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return markdownIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });

/** Files below a folder that can name a document: code, settings, alarms. */
const filesIn = (folder: string): string[] =>
  readdirSync(join(CHECKOUT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : filesIn(path);
    return /\.(ts|mjs|ya?ml|sql|html)$|^Dockerfile$/.test(entry.name) ? [path] : [];
  });

const readmesIn = (folder: string): string[] =>
  readdirSync(join(CHECKOUT, folder))
    .map((name) => join(folder, name, 'README.md'))
    .filter((path) => existsSync(join(CHECKOUT, path)));

const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'deploy/README.md', 'patches/README.md'],
  ...markdownIn('docs'),
  ...readmesIn('services'),
  ...readmesIn('packages'),
  ...readmesIn('packages/engines'),
  ...readmesIn('packages/shops'),
  ...readmesIn('packages/tools'),
];

/** The anchors that GitHub makes of the headings. */
const anchorsOf = (markdown: string): string[] =>
  [...withoutCode(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const withoutCode = (markdown: string): string => markdown.replace(/^ *```[\s\S]*?^ *```/gm, '');

const brokenLinks = (document: string): string[] =>
  [...withoutCode(read(document)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : join(dirname(document), path);
      if (!existsSync(join(CHECKOUT, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(read(target)).includes(anchor);
    });

test.each(DOCUMENTS)('each link of %s leads to a file and a heading that exist', (document) =>
  expect(brokenLinks(document)).toEqual([]),
);

/** Paths in backquotes. A name with a star or an angle bracket stands for several files. */
const filesNamedIn = (document: string): string[] =>
  [...withoutCode(read(document)).matchAll(/`((?:services|packages|deploy|docs)\/[^`\s*<{]+)`/g)].map(
    ([, path]) => path!,
  );

test('each file that documents name exists', () => {
  expect(filesNamedIn('docs/architecture.md').length).toBeGreaterThan(30);
  const named = DOCUMENTS.flatMap((document) => filesNamedIn(document).map((path) => ({ document, path })));
  expect(named.filter(({ path }) => !existsSync(join(CHECKOUT, path)))).toEqual([]);
});

test('each document that code, settings and alarms name exists, with the heading that they quote', () => {
  const files = ['services', 'packages', 'deploy', 'scripts', '.ci'].flatMap(filesIn);
  const named = [...files, '.env.example', 'docker-compose.yml'].flatMap((path) =>
    [...read(path).matchAll(/(?:"([A-Z][^"]+)" in )?\b((?:docs|deploy)\/[\w/-]+\.md)\b/g)].map(
      ([, heading, document]) => ({ path, heading, document: document! }),
    ),
  );
  expect(named.length).toBeGreaterThan(8);
  const isBroken = ({ heading, document }: (typeof named)[number]) =>
    !existsSync(join(CHECKOUT, document)) ||
    (heading !== undefined && !new RegExp(`^#+ ${heading}$`, 'm').test(read(document)));
  expect(named.filter(isBroken)).toEqual([]);
});

test('docs/operators names each variable of .env.example', () => {
  const documents = markdownIn('docs/operators').map(read).join('\n');
  const variables = [...read('.env.example').matchAll(/^(?:# )?([A-Z][A-Z_]+)=/gm)].map(([, name]) => name!);
  expect(variables.length).toBeGreaterThan(50);
  expect(variables.filter((name) => !new RegExp(`\\b${name}\\b`).test(documents))).toEqual([]);
});

/** The lines of the shell examples of a document. */
const shellLinesOf = (document: string): string[] =>
  [...read(document).matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, code]) => code!.split('\n'));

/** The line without what stands in quotes. */
const unquoted = (line: string): string => line.replaceAll(/'[^']*'|"(?:\\.|[^"\\])*"/g, '');

// An interactive zsh takes # for a word, and expands the words after it.
test.each(DOCUMENTS)(
  'comments in shell examples of %s stand on lines of their own, in words that zsh leaves alone',
  (document) => {
    for (const line of shellLinesOf(document)) {
      if (line.startsWith('#')) expect(line).toMatch(/^# [^'"`*?[\](){}<>|&;!$~\\]+$/);
      else expect(unquoted(line)).not.toMatch(/\s#\s/);
    }
  },
);
