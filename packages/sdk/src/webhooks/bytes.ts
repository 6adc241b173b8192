/** Standard base64 as bytes, with or without padding; null if it is not base64. */
export const fromBase64 = (text: string): Uint8Array | null => {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
};

/** Hexadecimal digits as bytes; null if there are others. */
export const fromHex = (text: string): Uint8Array | null => {
  if (!/^(?:[\da-f]{2})*$/i.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
};

/** Whether both have the same bytes. Takes the same time wherever they differ. */
export const isEqual = (a: Uint8Array, b: Uint8Array): boolean => {
  let difference = a.length ^ b.length;
  for (let index = 0; index < b.length; index++) difference |= (a[index] ?? 0) ^ b[index]!;
  return difference === 0;
};
