const SEED_WORDS = 12;

/** What a text is that can spend, when it was given in the place of an extended public key; null for other text. */
export const spendingSecretIn = (text: string): 'seed phrase' | 'private key' | null => {
  // Words of BIP39 have 3 to 8 letters. They may be numbered, or separated by commas.
  const words = text.split(/[\s,;]+/).filter((word) => /^(\d+[.:)]*)?\p{L}{3,8}$/u.test(word));
  if (words.length >= SEED_WORDS) return 'seed phrase';
  // Extended keys of SLIP-132, in a descriptor too; 32 bytes in hexadecimal; the wallet import format of Bitcoin.
  const isPrivate =
    /\b[a-zA-Z]prv[1-9A-HJ-NP-Za-km-z]/.test(text) ||
    /^\s*(0x)?[0-9a-f]{64}\s*$/i.test(text) ||
    /^\s*[5KLc9][1-9A-HJ-NP-Za-km-z]{50,51}\s*$/.test(text);
  return isPrivate ? 'private key' : null;
};
