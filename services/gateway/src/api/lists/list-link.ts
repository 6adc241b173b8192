/** The request that lists what the filters select. */
export const listLink = (path: string, filters: object): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters))
    for (const one of [value].flat()) query.append(name, one instanceof Date ? one.toISOString() : String(one));
  return `${path}?${query}`;
};
