import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type CatalogueEntry, errorCatalogue, renderErrorCatalogue } from '@cpg/platform';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { TITLE } from './description.ts';
import { type Guide, GUIDES, readGuide } from './guide.ts';

const hidden = { schema: { hide: true } };

/** Serves the reference page at `/docs`, the guides of merchants below `/docs/guide`, and the error catalogue at
 *  `/docs/errors` and `/docs/errors.md`. `/` says where they are. The pages load nothing from other servers.
 *  Guides are rendered once, at the first request, so that no start waits for them. */
export const serveDocsPages = (app: FastifyInstance): void => {
  let script: Promise<Buffer> | undefined;

  app.get('/docs', hidden, async (_, reply) => sendPage(reply, REFERENCE_PAGE, REFERENCE_POLICY));
  app.get('/docs/reference.js', hidden, async (_, reply) => {
    script ??= compressedScript();
    return reply
      .headers({
        'content-type': 'text/javascript; charset=utf-8',
        'content-encoding': 'gzip',
        'cache-control': 'public, max-age=86400',
      })
      .send(await script);
  });
  for (const [path, name] of Object.entries(GUIDES)) {
    let page: string | undefined;
    app.get(path, hidden, async (_, reply) => sendPage(reply, (page ??= guidePage(readGuide(name))), TEXT_POLICY));
  }
  app.get('/', hidden, async ({ headers: { accept = '' } }, reply) => {
    reply.header('vary', 'accept');
    return accept.includes('text/html') ? sendPage(reply, START_PAGE, TEXT_POLICY) : reply.send(START);
  });
  app.get('/docs/errors', hidden, async (_, reply) => sendPage(reply, ERRORS_PAGE, TEXT_POLICY));
  app.get('/docs/errors.md', hidden, async (_, reply) =>
    reply
      .type('text/markdown; charset=utf-8')
      .serializer((text: string) => text)
      .send(ERRORS_MARKDOWN),
  );
};

const sendPage = (reply: FastifyReply, html: string, policy: string) =>
  reply
    .header('content-security-policy', policy)
    .type('text/html; charset=utf-8')
    .serializer((text: string) => text)
    .send(html);

/** Scalar's page in one file. It is 3 MB, so it is compressed once; every browser accepts gzip. */
const compressedScript = async (): Promise<Buffer> => {
  const entry = createRequire(import.meta.url).resolve('@scalar/fastify-api-reference');
  return promisify(gzip)(await readFile(new URL('js/standalone.js', `file://${entry}`)));
};

const NO_OTHERS = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const document = (title: string, head: string, body: string): string =>
  `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)}</title>${head}</head>
<body>${body}</body>
</html>
`;

// Scalar's script is the page. It sets inline styles.
const REFERENCE_POLICY = `${NO_OTHERS}; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'`;

const CONFIGURATION = {
  url: '/openapi.json',
  metaData: { title: TITLE },
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
};

const REFERENCE_PAGE = document(
  TITLE,
  '',
  `<noscript>This page needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script id="api-reference" type="application/json" data-configuration="${escape(JSON.stringify(CONFIGURATION))}"></script>
<script src="/docs/reference.js"></script>`,
);

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid #8884; }
code { font-size: .9em; }
pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid #8884; }
`;

const TEXT_POLICY = `${NO_OTHERS}; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;

/** Where to go from `/`: path and what is there. */
const PLACES = {
  dashboard: ['/dashboard', 'Dashboard for merchants'],
  guide: ['/docs/guide', 'Guide for merchants: orders, payments, refunds, webhooks'],
  reference: ['/docs', 'API reference: every endpoint, field and error'],
  openapi: ['/openapi.json', 'The same as an OpenAPI document, for generators'],
  events: ['/schemas/asyncapi.json', 'Events on Kafka as an AsyncAPI document; JSON Schemas beside it'],
  errors: ['/docs/errors', 'Errors, and what to do about each'],
  health: ['/health', 'Whether this process runs'],
} as const;

const START = {
  name: TITLE,
  ...Object.fromEntries(Object.entries(PLACES).map(([name, [path]]) => [name, path])),
};

const START_PAGE = document(
  TITLE,
  `<style>${STYLE}</style>`,
  `<h1>${escape(TITLE)}</h1>
<ul>
${Object.values(PLACES)
  .map(([path, about]) => `<li><a href="${path}">${escape(about)}</a></li>`)
  .join('\n')}
</ul>
<p>Requests go to <code>/v1</code> and need an API key in the header <code>x-api-key</code>.</p>`,
);

const GUIDE_NAMES: Readonly<Record<keyof typeof GUIDES, string>> = {
  '/docs/guide': 'Guide',
  '/docs/guide/order-states': 'Order states',
  '/docs/guide/sdk': 'Client for TypeScript',
  '/docs/guide/sdk/webhooks': 'Webhook verifier',
};

const GUIDE_LINKS = [...Object.entries(GUIDE_NAMES), ['/docs', 'API reference'], ['/docs/errors', 'Errors']]
  .map(([path, text]) => `<a href="${path}">${text}</a>`)
  .join(' · ');

const guidePage = ({ title, html }: Guide): string =>
  document(`${title}: ${TITLE}`, `<style>${STYLE}</style>`, `<p>${GUIDE_LINKS}</p>\n${html}`);

const inline = (markdown: string): string => escape(markdown).replace(/`([^`]+)`/g, '<code>$1</code>');

const row = ({ code, statusCode, error, when, remedy }: CatalogueEntry): string =>
  `<tr id="${code}"><td><a href="#${code}"><code>${code}</code></a></td><td>${statusCode}</td><td>${escape(error)}</td><td>${inline(when)}</td><td>${inline(remedy)}</td></tr>`;

const ERRORS_MARKDOWN = renderErrorCatalogue();

const ERRORS_PAGE = document(
  `Errors of the ${TITLE}`,
  `<style>${STYLE}</style>`,
  `<h1>Errors</h1>
<p>Every error response has a <code>code</code>. It is stable: base your error handling on it. New codes can be added: handle an unknown code by its
status. <a href="/docs">API reference</a> · <a href="/docs/errors.md">This page as Markdown</a></p>
<table><thead><tr><th>code</th><th>status</th><th><code>error</code></th><th>when</th><th>what to do</th></tr></thead>
<tbody>
${errorCatalogue().map(row).join('\n')}
</tbody></table>`,
);
