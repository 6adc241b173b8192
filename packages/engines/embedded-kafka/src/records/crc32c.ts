const POLYNOMIAL = 0x82f63b78;

// Slicing by eight: table n has the checksums of each byte followed by n zero bytes, so eight bytes take eight
// look-ups.
const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
const [T0, T1, T2, T3, T4, T5, T6, T7] = tables as [
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
  Uint32Array,
];
for (let byte = 0; byte < 256; byte += 1) {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  T0[byte] = crc >>> 0;
}
for (let n = 1; n < 8; n += 1) {
  for (let byte = 0; byte < 256; byte += 1) {
    const before = tables[n - 1]![byte]!;
    tables[n]![byte] = ((before >>> 8) ^ T0[before & 0xff]!) >>> 0;
  }
}

/** The unsigned CRC-32C (Castagnoli) of the bytes from index `from` on. Source: RFC 3720, appendix B.4. */
export const crc32c = (bytes: Uint8Array, from = 0): number => {
  let crc = -1;
  let at = from;
  for (const last = bytes.length - 8; at <= last; at += 8) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    crc =
      T7[crc & 0xff]! ^
      T6[(crc >>> 8) & 0xff]! ^
      T5[(crc >>> 16) & 0xff]! ^
      T4[crc >>> 24]! ^
      T3[bytes[at + 4]!]! ^
      T2[bytes[at + 5]!]! ^
      T1[bytes[at + 6]!]! ^
      T0[bytes[at + 7]!]!;
  }
  for (; at < bytes.length; at += 1) crc = (crc >>> 8) ^ T0[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
};
