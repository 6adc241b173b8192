/** The bytes of a text in hex that arrived in parts, alone in their ArrayBuffer. Null if it is no hex. */
export const decodedHex = (parts: readonly Buffer[]): Buffer | null => {
  const digits = parts.reduce((sum, { length }) => sum + length, 0);
  const bytes = Buffer.allocUnsafeSlow(digits >> 1);
  let written = 0;
  const decode = (text: string) => void (written += bytes.write(text, written, 'hex'));
  /** The digit of a byte that begins in one part and ends in the next. */
  let half = '';
  for (const part of parts) {
    if (part.length === 0) continue;
    const start = half.length;
    if (start > 0) decode(half + part.toString('latin1', 0, start));
    const end = part.length - ((part.length - start) % 2);
    decode(part.toString('latin1', start, end));
    half = part.toString('latin1', end);
  }
  return written * 2 === digits ? bytes : null;
};
