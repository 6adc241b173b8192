import type { PageAssets } from '../assets.ts';
import type { Language, Speech } from '../language.ts';
import { renderDocument } from './document.tsx';

const RELOAD_SECONDS = 10;

/** The page of an error, the same for every reference. */
export const renderError = (
  status: number,
  { assets, languageLink, ...speech }: Speech & { assets: PageAssets; languageLink: (language: Language) => string },
): string => {
  const { texts } = speech;
  const [title, text] =
    status === 404
      ? [texts.notFoundTitle, texts.notFound]
      : status === 429
        ? [texts.tooManyTitle, texts.tooMany]
        : [texts.unavailableTitle, texts.unavailable];
  return renderDocument({
    ...speech,
    title,
    assets,
    languageLink,
    reload: status === 404 ? null : { seconds: RELOAD_SECONDS },
    header: null,
    children: (
      <main id="payment" data-version={status === 404 ? 'none' : undefined} tabindex={-1}>
        <section class="status">
          <h1>{title}</h1>
          <p>{text}</p>
        </section>
      </main>
    ),
  });
};
