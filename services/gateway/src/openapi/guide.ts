import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';

/** The checkout, seen from `src` and from `dist`. An image has the documents at the same paths below `/`. */
const CHECKOUT = new URL('../../../../', import.meta.url);

/** The guides of merchants: path and document. */
export const GUIDES = {
  '/docs/guide': 'docs/merchants.md',
  '/docs/guide/order-states': 'docs/order-states.md',
  '/docs/guide/sdk': 'packages/sdk/README.md',
  '/docs/guide/sdk/webhooks': 'packages/sdk/webhooks.md',
} as const;

/** Where the gateway serves a document. */
const PATHS: Readonly<Record<string, string>> = {
  'docs/errors.md': '/docs/errors',
  ...Object.fromEntries(Object.entries(GUIDES).map(([path, document]) => [document, path])),
};

export interface Guide {
  readonly title: string;
  /** Without scripts, styles and images. */
  readonly html: string;
}

/** Renders a guide. */
export const readGuide = (document: string): Guide =>
  renderGuide(readFileSync(new URL(document, CHECKOUT), 'utf8'), document);

/** Renders Markdown, with a table of contents before the second heading. Headings have the anchors of GitHub. A link to
 *  a document that the gateway does not serve becomes its text. HTML is left out: documents have it only in comments,
 *  for their tests. */
export const renderGuide = (markdown: string, document: string): Guide => {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, document);
        return target === null ? text : `<a href="${target}">${text}</a>`;
      },
      html: () => '',
      image: ({ text }: Tokens.Image) => text,
    },
  });
  const blocks = marked.lexer(markdown);
  const [title, ...headings] = blocks.filter((block): block is Tokens.Heading => block.type === 'heading');
  const contents = headings
    .map(({ depth, text }) => `${'  '.repeat(depth - 2)}- [${text}](#${anchorOf(text)})\n`)
    .join('');
  const start = headings[0] ? blocks.indexOf(headings[0]) : blocks.length;
  const withContents = [...blocks.slice(0, start), ...marked.lexer(contents), ...blocks.slice(start)];
  return { title: title?.text ?? '', html: marked.parser(withContents) };
};

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Where a link of a document leads; null if the gateway does not serve its target. */
const targetOf = (href: string, document: string): string | null => {
  if (/^https:\/\/[\w./-]+$/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const path = file === '' ? '' : PATHS[posix.join(posix.dirname(document), file)];
  if (path === undefined) return null;
  return anchor === undefined ? path : `${path}#${anchor}`;
};
