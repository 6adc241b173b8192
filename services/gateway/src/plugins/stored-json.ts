import type { FastifyInstance } from 'fastify';

/** The JSON of some items as the database stores it. */
class StoredItems {
  readonly texts: readonly string[];

  constructor(texts: readonly string[]) {
    this.texts = texts;
  }

  get length(): number {
    return this.texts.length;
  }

  toJSON(): unknown {
    return JSON.parse(`[${this.texts.join(',')}]`);
  }
}

/** The resources whose JSON is in `texts`, for responses alone: they send the texts as they are, without a parse. It has
 *  none of the resources. */
export const storedItems = <T>(texts: readonly string[]): T[] => new StoredItems(texts) as unknown as T[];

/** Whether a page has these items: an array, or their JSON. */
export const areItems = (items: unknown): boolean => Array.isArray(items) || items instanceof StoredItems;

/** Sends pages of stored resources as their text. Everything else becomes JSON as before. */
export const sendStoredJson = (app: FastifyInstance): void => {
  app.setSerializerCompiler(() => (value) => {
    const { items, ...rest } = Object(value) as { items?: unknown };
    // Fastify also sends bytes, but its types know text only.
    return items instanceof StoredItems ? (bytesOf(items, rest) as unknown as string) : JSON.stringify(value);
  });
};

const COMMA = ','.charCodeAt(0);

/** Writes text by text, because one text of 190 KB would be copied three times. */
const bytesOf = ({ texts }: StoredItems, rest: object): Buffer => {
  const [start, end] = ['{"items":[', `],${JSON.stringify(rest).slice(1)}`];
  const ofTexts = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) + Math.max(texts.length - 1, 0);
  const bytes = Buffer.allocUnsafe(start.length + ofTexts + Buffer.byteLength(end));
  let written = bytes.write(start);
  for (const [index, text] of texts.entries()) {
    // A write of one character takes as long as one of a kilobyte.
    if (index > 0) bytes[written++] = COMMA;
    written += bytes.write(text, written);
  }
  bytes.write(end, written);
  return bytes;
};
