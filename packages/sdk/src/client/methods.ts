/** Options of one request. They replace those of the client, except `headers`, which come beside them. */
export interface RequestOptions {
  /** The Idempotency-Key of a POST, 1 to 255 visible characters. By default the client makes one for each call and keeps
   *  it over its retries. Give your own to repeat a call later, for example after a crash of your process. */
  readonly idempotencyKey?: string | undefined;
  /** Milliseconds for one attempt, its answer included. */
  readonly timeoutMs?: number | undefined;
  /** How often a request may be sent again. 0 for never. */
  readonly maxRetries?: number | undefined;
  /** Ends the call, its waits included, with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Headers beside those of the client. One of the same name replaces it. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The names of all options. */
export const OPTION_NAMES = {
  idempotencyKey: true,
  timeoutMs: true,
  maxRetries: true,
  signal: true,
  headers: true,
} satisfies Record<keyof RequestOptions, true>;

/** A page of a list. */
export interface Page<Item> {
  readonly items: Item[];
  readonly next_cursor?: string | undefined;
}

/** A list. `await` it for one page, or read every item with `for await`, which asks for pages as they are needed. */
export interface List<Item, P extends Page<Item> = Page<Item>> extends PromiseLike<P>, AsyncIterable<Item> {
  /** Every page from the `cursor` of this list on. A `next_cursor` that you store lets you go on exactly after its
   *  page. */
  readonly pages: () => AsyncIterable<P>;
  /** The cursor of the page whose items `for await` returns now; undefined on the first page. After an interruption,
   *  list again with this `cursor` and the same filters: the items of that page come again, none is left out. */
  readonly cursor: string | undefined;
}

/** A response with its data, for headers such as `ratelimit-remaining` and `idempotency-replayed`. */
export interface RawResponse<T> {
  readonly data: T;
  readonly response: Response;
}
