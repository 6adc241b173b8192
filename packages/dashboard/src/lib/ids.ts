/** A random UUID. `crypto.randomUUID` is absent on pages that came over HTTP from another machine. */
export const newUuid = (): string => {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** The start and the end of a long text, for reading: `0x5c50…2060`. */
export const shorten = (text: string, start = 8, end = 6): string =>
  text.length <= start + end + 3 ? text : `${text.slice(0, start)}…${text.slice(-end)}`;
