import type { FastifyInstance } from 'fastify';

/** JSON as the database stores it. */
class StoredJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** The resource whose JSON is `text`, for responses alone: they send the text as it is, without a parse. It has none of
 *  the fields of the resource. */
export const storedJson = <T>(text: string): T => new StoredJson(text) as T;

/** Sends pages of stored resources as their text. Everything else becomes JSON as before. */
export const sendStoredJson = (app: FastifyInstance): void => {
  app.setSerializerCompiler(() => (value) => pageText(value) ?? JSON.stringify(value));
};

const pageText = (value: unknown): string | null => {
  const { items, ...page } = Object(value) as { items?: unknown };
  if (!Array.isArray(items) || items.length === 0 || !items.every((item) => item instanceof StoredJson)) return null;
  return `{"items":[${items.map(({ text }) => text).join(',')}],${JSON.stringify(page).slice(1)}`;
};
