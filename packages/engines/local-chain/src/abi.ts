/** A value in a call of a contract: an address, a number, or a text. */
export type AbiValue = { readonly address: string } | bigint | string;

const WORD = 64;

/** Encodes arguments as contracts read them, in hex digits. Source: Solidity, contract ABI specification. */
export const encodeArguments = (values: readonly AbiValue[]): string => {
  let tail = '';
  const head = values.map((value) => {
    if (typeof value === 'bigint') return word(value.toString(16));
    if (typeof value === 'object') return word(value.address.slice(2).toLowerCase());
    const start = values.length * (WORD / 2) + tail.length / 2;
    tail += encodedText(value);
    return word(start.toString(16));
  });
  return head.join('') + tail;
};

/** Length and bytes, filled up to whole words. */
const encodedText = (text: string): string => {
  const bytes = Buffer.from(text, 'utf8');
  const digits = bytes.toString('hex');
  return word(bytes.length.toString(16)) + digits.padEnd(Math.ceil(digits.length / WORD) * WORD, '0');
};

const word = (digits: string): string => digits.padStart(WORD, '0');
