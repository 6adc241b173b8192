/** JSON with the names of every object in order, so that equal values are equal texts. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value, ordered) ?? '';

const ordered = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
