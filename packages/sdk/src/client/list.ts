import type { Route } from '../generated/methods.ts';
import type { List, Page } from './methods.ts';
import type { ApiRequest, Send } from './send.ts';

const LARGEST_PAGE = 100;

/** A list that asks for its pages when they are read. */
export const listOf = (send: Send, route: Route, request: ApiRequest): List<unknown> => {
  const { query = {} } = request;
  const pageAt = async (changes: Record<string, unknown>) =>
    (await send(route, { ...request, query: { ...query, ...changes } })).data as Page<unknown>;
  let cursor = query.cursor as string | undefined;

  async function* pages() {
    const limit = query.limit ?? LARGEST_PAGE;
    let next: string | undefined;
    do {
      // The cursor replaces the page number.
      const page = await pageAt(next === undefined ? { limit } : { limit, page: undefined, cursor: next });
      yield page;
      next = page.next_cursor;
    } while (next !== undefined);
  }
  async function* items() {
    cursor = query.cursor as string | undefined;
    for await (const page of pages()) {
      yield* page.items;
      if (page.next_cursor !== undefined) cursor = page.next_cursor;
    }
  }
  let first: Promise<Page<unknown>> | undefined;
  return {
    pages,
    [Symbol.asyncIterator]: items,
    get cursor() {
      return cursor;
    },
    then: (done, fail) => (first ??= pageAt({})).then(done, fail),
  };
};
