import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { PageAssets } from './assets.ts';
import { LANGUAGES, type Speech } from './language.ts';

export interface DocumentProps extends Speech {
  readonly title: string;
  readonly assets: PageAssets;
  /** The style sheet with the merchant's accent. */
  readonly accentUrl?: string | undefined;
  /** Whether the page works without the script also in browsers with JavaScript. */
  readonly isStatic?: boolean;
  /** The reload of browsers without JavaScript. */
  readonly reload: { readonly seconds: number; readonly url?: string } | null;
  readonly languageLink: (language: Speech['language']) => string;
  /** What `<header>` and `<main>` contain. */
  readonly header: ComponentChildren;
  readonly children: ComponentChildren;
}

// The `<main>` is replaced when the page changes; a screen reader needs a live region that stays.
const Document = ({ title, assets, accentUrl, isStatic = false, reload, header, children, ...rest }: DocumentProps) => (
  <html lang={rest.language} dir="ltr">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex, nofollow" />
      <meta name="color-scheme" content="light dark" />
      <title>{title}</title>
      <link rel="icon" href={assets.icon.path} />
      <link rel="stylesheet" href={assets.style.path} />
      {accentUrl !== undefined && <link rel="stylesheet" href={accentUrl} />}
      {!isStatic && <script src={assets.script.path} defer></script>}
      {reload && (
        <noscript>
          <meta http-equiv="refresh" content={refresh(reload.seconds, reload.url)} />
        </noscript>
      )}
    </head>
    <body>
      <a class="skip" href="#payment">
        {rest.texts.skip}
      </a>
      <header class="top">
        {header}
        <Languages {...rest} />
      </header>
      {children}
      <div id="announcement" class="visually-hidden" role="status" aria-live="polite"></div>
    </body>
  </html>
);

const refresh = (seconds: number, url: string | undefined): string =>
  url === undefined ? String(seconds) : `${seconds}; url=${url}`;

const Languages = ({ language, texts, languageLink }: Pick<DocumentProps, 'language' | 'texts' | 'languageLink'>) => (
  <nav class="languages" aria-label={texts.language}>
    {LANGUAGES.map(({ code, name }) => (
      <a
        href={languageLink(code)}
        lang={code}
        hreflang={code}
        aria-label={`${code.toUpperCase()} ${name}`}
        aria-current={code === language ? 'true' : undefined}
      >
        {code.toUpperCase()}
      </a>
    ))}
  </nav>
);

export const renderDocument = (props: DocumentProps): string =>
  `<!doctype html>${renderToString(<Document {...props} />)}`;
