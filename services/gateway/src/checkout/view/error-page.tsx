import type { PageAssets } from './assets.ts';
import type { Speech } from './language.ts';
import type { PageChoice } from '../state/page-link.ts';
import { renderDocument } from './document.tsx';

export interface ErrorProps extends Speech {
  readonly assets: PageAssets;
  /** A link to the page with another choice. */
  readonly link: (choice: PageChoice) => string;
  /** When the browser asks again, unless the page is not there. */
  readonly retrySeconds: number;
}

const TOO_MANY = 429;

/** The page of an error. It names neither the merchant nor the order. */
export const renderError = (status: number, { assets, link, retrySeconds, ...speech }: ErrorProps): string => {
  const { texts, format } = speech;
  const isPassing = status === TOO_MANY || status >= 500;
  const time = format.seconds(retrySeconds);
  const [title, text] = !isPassing
    ? [texts.notFoundTitle, texts.notFound]
    : status === TOO_MANY
      ? [texts.tooManyTitle, texts.tooMany(time)]
      : [texts.unavailableTitle, texts.unavailable(time)];
  return renderDocument({
    ...speech,
    title,
    assets,
    languageLink: (lang) => link({ lang }),
    reload: isPassing ? { seconds: retrySeconds, url: link({}) } : null,
    header: null,
    children: (
      <main id="payment" data-version={isPassing ? undefined : 'none'} tabindex={-1}>
        <section class="status">
          <h1>{title}</h1>
          <p>{text}</p>
          {isPassing && (
            <p>
              <a class="button" href={link({})} data-retry-seconds={retrySeconds}>
                {texts.retryNow}
              </a>
            </p>
          )}
        </section>
      </main>
    ),
  });
};
