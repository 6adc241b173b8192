import { readFileSync } from 'node:fs';
import { Marked, type Tokens } from 'marked';

/** Where the documents are in a checkout, seen from `src` and from `dist`. An image has them at `/docs`. */
const DOCUMENTS = new URL('../../../../docs/', import.meta.url);

/** The guides of merchants: path and document. */
export const GUIDES = {
  '/docs/guide': 'merchants.md',
  '/docs/guide/order-states': 'order-states.md',
} as const;

/** Where the gateway serves a document. */
const PATHS: Readonly<Record<string, string>> = {
  'errors.md': '/docs/errors',
  ...Object.fromEntries(Object.entries(GUIDES).map(([path, document]) => [document, path])),
};

export interface Guide {
  readonly title: string;
  /** Without scripts, styles and images. */
  readonly html: string;
}

/** Renders a guide. */
export const readGuide = (document: string): Guide => renderGuide(readFileSync(new URL(document, DOCUMENTS), 'utf8'));

/** Renders Markdown. Headings have the anchors of GitHub. A link to a document that the gateway does not serve becomes
 *  its text. HTML is left out: documents have it only in comments, for their tests. */
export const renderGuide = (markdown: string): Guide => {
  let title = '';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        if (depth === 1) title ||= text;
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === null ? text : `<a href="${target}">${text}</a>`;
      },
      html: () => '',
      image: ({ text }: Tokens.Image) => text,
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { title, html };
};

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

const targetOf = (href: string): string | null => {
  if (/^https:\/\/[\w./-]+$/.test(href)) return href;
  const [document = '', anchor] = href.split('#');
  const path = document === '' ? '' : PATHS[document];
  if (path === undefined) return null;
  return anchor === undefined ? path : `${path}#${anchor}`;
};
