/** The query of an address: text by name, and a list for a name that is there more than once. */
export type Search = Readonly<Record<string, string | readonly string[]>>;

export const readSearch = (query: string): Search => {
  const params = new URLSearchParams(query);
  const names = [...new Set(params.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = params.getAll(name);
      return [name, values.length > 1 ? values : values[0]!];
    }),
  );
};

/** With `?`, or empty. Leaves out empty values. */
export const writeSearch = (search: Readonly<Record<string, unknown>>): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const each of [value].flat()) if (isText(each) && each !== '') params.append(name, String(each));
  const text = params.toString();
  return text === '' ? '' : `?${text}`;
};

const isText = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** The values of a name, none if it is absent. */
export const valuesOf = (search: Search, name: string): readonly string[] => [search[name] ?? []].flat();

/** The first value of a name. */
export const valueOf = (search: Search, name: string): string | undefined => valuesOf(search, name)[0];

/** `search` with these names alone. */
export const pickSearch = (search: Readonly<Record<string, unknown>>, names: readonly string[]): Search =>
  Object.fromEntries(
    Object.entries(search).filter(([name, value]) => names.includes(name) && value !== '' && value !== undefined),
  ) as Search;
