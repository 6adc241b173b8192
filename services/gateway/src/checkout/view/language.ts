import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type Format, formatFor } from './format.ts';
import { choiceOf } from '../state/page-link.ts';
import { en, type Texts } from './texts/en.ts';
import { es } from './texts/es.ts';
import { pt } from './texts/pt.ts';

export const TEXTS = { en, es, pt } satisfies Record<string, Texts>;
export type Language = keyof typeof TEXTS;

/** How the page speaks to one payer. */
export interface Speech {
  readonly language: Language;
  readonly texts: Texts;
  readonly format: Format;
}

const TAG = /^(en|es|pt)(?:-([A-Za-z]{2}))?$/;
const MAX_HEADER_LENGTH = 512;
export const MAX_FORMATS = 64;
// A format takes 50 KB, and clients choose the region of its tag.
const formats = new LRUCache<string, Format>({ max: MAX_FORMATS, memoMethod: formatFor });

/** The chosen language, else the preferred one of the browser, in the region of the browser. */
export const speechFor = (chosen: string | undefined, acceptLanguage = ''): Speech => {
  const preferred = preferredTags(acceptLanguage);
  const tag =
    (chosen && TAG.test(chosen) ? (preferred.find((each) => each.startsWith(chosen)) ?? chosen) : preferred[0]) ?? 'en';
  const language = tag.slice(0, 2) as Language;
  const format = formats.memo(tag);
  return { language, texts: TEXTS[language], format };
};

/** How the page speaks to the client of a request. */
export const speechOf = ({ query, headers }: Pick<FastifyRequest, 'query' | 'headers'>): Speech =>
  speechFor(choiceOf(query).lang, headers['accept-language']);

/** The supported tags of the header, the preferred ones first, in a spelling that Intl accepts. */
const preferredTags = (header: string): string[] =>
  header
    .slice(0, MAX_HEADER_LENGTH)
    .split(',')
    .flatMap((range) => {
      const [tag = '', quality = 'q=1'] = range.split(';').map((part) => part.trim());
      const [, language, region] = TAG.exec(tag) ?? [];
      const weight = Number(quality.replace(/^q=/, ''));
      return language && weight > 0 ? [{ tag: region ? `${language}-${region.toUpperCase()}` : language, weight }] : [];
    })
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);

export const LANGUAGES = Object.entries(TEXTS).map(([code, { languageName }]) => ({
  code: code as Language,
  name: languageName,
}));
