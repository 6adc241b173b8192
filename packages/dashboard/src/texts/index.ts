import { en, type Texts } from './en.ts';

/** The texts in the language of the user. Read them while rendering, never at module level. */
export let t: Texts = en;

/** The language of numbers and dates. */
export let locale = 'en';

const LANGUAGES: Readonly<Record<string, () => Promise<Texts>>> = {
  en: async () => en,
  es: async () => (await import('./es.ts')).es,
  pt: async () => (await import('./pt.ts')).pt,
};

export const languages = (): string[] => Object.keys(LANGUAGES);

const STORED = 'dashboard.language';

/** Loads the chosen language, or the first of the browser's that is there. Call it before the first page is shown. */
export const loadTexts = async (): Promise<void> => {
  const wanted = [localStorage.getItem(STORED) ?? '', ...navigator.languages];
  const found = wanted.find((each) => LANGUAGES[each.slice(0, 2)]) ?? 'en';
  t = await LANGUAGES[found.slice(0, 2)]!();
  locale = found;
  document.documentElement.lang = found.slice(0, 2);
};

/** Keeps the choice and shows the dashboard anew. */
export const chooseLanguage = (language: string): void => {
  localStorage.setItem(STORED, language);
  location.reload();
};

/** The text of a value of the API. A value that this version does not know shows as itself. */
export const wordFor = (words: Readonly<Record<string, string>>, value: string): string =>
  Object.hasOwn(words, value) ? words[value]! : value;
